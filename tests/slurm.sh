#!/bin/sh
# tests/slurm.sh TOILE [SAMPLES]: a sweep through a Slurm of one node gives the bytes of one without. 77: Slurm is missing (slurmctld, slurmd, munge), or this is not root.
set -eu
toile=$1
samples=${2:-12}
for tool in slurmctld slurmd munged sbatch; do
    command -v $tool > /dev/null 2>&1 || { echo "skipped: $tool is missing (apt-get install slurmctld slurmd slurm-client munge)"; exit 77; }
done
[ "$(id -u)" = 0 ] || { echo "skipped: only root can start Slurm's services"; exit 77; }
dir=$(mktemp -d)
chmod 755 "$dir"
own=
cleanup() {
    for name in slurmd slurmctld munged; do [ ! -s "$dir/$name.pid" ] || kill "$(cat "$dir/$name.pid")" 2> /dev/null || true; done
    sleep 1
    rm -rf "$dir"
}
trap cleanup EXIT
fail() { echo "FAIL: $*"; tail -5 "$dir"/*.log 2> /dev/null; exit 1; }

mkdir -p "$dir/munge" "$dir/state" "$dir/spool"
head -c 1024 /dev/urandom > "$dir/munge/key"
chmod 700 "$dir/munge" "$dir/munge/key"
chown -R munge: "$dir/munge" 2> /dev/null || fail "there is no user munge"
start_munge='munged --force --foreground --key-file '"$dir/munge/key"' --socket '"$dir/munge/socket"' --pid-file '"$dir/munge/pid"' --log-file '"$dir/munge/log"' --seed-file '"$dir/munge/seed"
chmod 755 "$dir/munge"
setpriv --reuid munge --regid munge --clear-groups sh -c "exec $start_munge" > "$dir/munged.log" 2>&1 &
echo $! > "$dir/munged.pid"
host=$(hostname -s)
cat > "$dir/slurm.conf" <<END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$dir/munge/socket
CryptoType=crypto/munge
SlurmctldPort=16817
SlurmdPort=16818
CommunicationParameters=NoInAddrAny
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool
SlurmctldPidFile=$dir/state/ctld.pid
SlurmdPidFile=$dir/state/d.pid
SlurmctldLogFile=$dir/slurmctld.log
SlurmdLogFile=$dir/slurmd.log
ReturnToService=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
END
export SLURM_CONF="$dir/slurm.conf"
slurmctld -D > /dev/null 2>&1 & echo $! > "$dir/slurmctld.pid"
slurmd -D > /dev/null 2>&1 & echo $! > "$dir/slurmd.pid"
tries=0
until sinfo -h -o %T 2> /dev/null | grep -q idle; do
    tries=$((tries + 1))
    [ $tries -lt 60 ] || { echo "skipped: Slurm does not come up here"; tail -3 "$dir"/*.log; exit 77; }
    sleep 0.5
done

cat > "$dir/sheet.json" <<'END'
{"frames": 2, "fps": 25, "steps_per_frame": 4,
 "cloths": [{"name": "sheet", "mesh": {"rectangle": {"size": [0.4, 0.4], "edge": 0.1}}, "material": "cotton",
             "transform": {"rotate": [-90, 1, 0, 0], "translate": [-0.2, 0.202, 0.2]}, "remeshing": {"size_min": 0.05}}],
 "obstacles": [{"name": "ball", "sphere": {"center": [0, 0, 0], "radius": 0.2}}]}
END
echo '{"scene": "sheet.json", "random": {"count": '"$samples"', "keys": {"obstacles[0].friction": {"uniform": [0, 0.6]}}}}' > "$dir/spec.json"
"$toile" sweep "$dir/spec.json" --out "$dir/here" --quiet || fail "the sweep without Slurm"
"$toile" sweep "$dir/spec.json" --out "$dir/there" --slurm || fail "submitting"
tries=0
while [ -n "$(squeue -h)" ]; do
    tries=$((tries + 1))
    [ $tries -lt $((200 + 4 * samples)) ] || fail "the array does not end: $(squeue -h | head -3)"
    sleep 0.5
done
[ "$(find "$dir/there/runs" -name sample.json | wc -l)" = "$samples" ] || fail "tasks did not do their samples: $(cat "$dir"/there/slurm-*.log | head -3)"
"$toile" sweep "$dir/spec.json" --out "$dir/there" --quiet || fail "gathering"
cmp "$dir/here/dataset.jsonl" "$dir/there/dataset.jsonl" || fail "other data sets"
(cd "$dir/here" && find runs -name '*.npz' -o -name '*.obj') | while read -r file; do cmp "$dir/here/$file" "$dir/there/$file" || exit 1; done || fail "other bytes"
echo "$samples samples, the same bytes through Slurm $(sbatch --version)"
