# `toile serve`: loopback only, one folder only, whatever is sent to it. bash speaks TCP for us.
. "${REPO:?}/tests/cli/lib.sh"

expect 1 serve a b
says stderr 'give one folder'
expect 1 serve --port 70000
expect 2 serve no-such-folder
says stderr 'no-such-folder'
expect 2 serve "$DATA/tiny.json"

mkdir -p site/sub site/.hidden other
echo '<p>page</p>' > site/index.html
echo 'text with spaces' > 'site/sub/a b.txt'
echo secret > other/secret.txt
echo secret > site/.hidden/secret.txt
ln -s ../other/secret.txt site/link.txt
ln -s ../other site/linked
ln -s sub/../index.html site/inside.html
mkfifo site/pipe
head -c 3000000 /dev/zero > site/large.wasm
"$TOILE" serve site --port 0 > out.txt 2> err.txt &
server=$!
trap 'kill $server 2> /dev/null; rm -rf "$WORK"' EXIT
for _ in $(seq 50); do grep -q http out.txt && break; sleep 0.1; done
port=$(sed -n 's|^http://127.0.0.1:\([0-9]*\)/$|\1|p' out.txt)
[ -n "$port" ] || { fail "no address: $(cat out.txt err.txt)"; finish; }

# send FILE, ask TEXT [HOST]: the whole answer comes into the file answer
send() { bash -c 'exec 3<> /dev/tcp/127.0.0.1/$1; cat "$2" >&3; timeout 10 cat <&3' - "$port" "$1" > answer 2> /dev/null; }
ask() { printf "$1 HTTP/1.1\r\nHost: ${2:-127.0.0.1:$port}\r\n\r\n" > request; send request; }
status() { head -1 answer | tr -d '\r' | cut -d ' ' -f 2; }
want() { got=$(status); [ "$got" = "$1" ] || fail "$2: status '$got', expected $1"; }

ask 'GET /'
want 200 /
for line in 'Content-Type: text/html; charset=utf-8' 'Content-Length: 12' 'Cross-Origin-Opener-Policy: same-origin' \
    'Cross-Origin-Embedder-Policy: require-corp' 'X-Content-Type-Options: nosniff'; do
    tr -d '\r' < answer | grep -qx "$line" || fail "no '$line'"
done
grep -q '<p>page</p>' answer || fail "not the page"
ask 'HEAD /index.html'
want 200 HEAD
grep -q '<p>' answer && fail "HEAD with a body"
ask 'GET /sub/a%%20b.txt?v=3'
grep -q 'text with spaces' answer || fail "name with a space"
ask 'GET /large.wasm'
tr -d '\r' < answer | grep -aqx 'Content-Type: application/wasm' || fail "type of wasm"
[ "$(tr -d '\0' < answer | wc -c)" -lt 2000 ] && [ "$(wc -c < answer)" -gt 3000000 ] || fail "a large file: $(wc -c < answer)"
ask 'GET /sub'
want 301 folder
ask 'GET /inside.html'
want 200 'a link inside'

# ways out
for path in /../other/secret.txt /%%2e%%2e/other/secret.txt /sub/..%%2f..%%2fother/secret.txt /link.txt /linked/secret.txt \
    /.hidden/secret.txt //other /sub/%%2e/x /pipe /none.txt /sub/ '/..\\other\\secret.txt' /./index.html; do
    ask "GET $path"
    case $(status) in 403 | 404) ;; *) fail "$path: $(status)" ;; esac
    grep -q secret answer && fail "$path gave away the secret"
done
ask 'GET http://127.0.0.1/index.html'; want 400 'absolute form'
ask 'GET /%%zz'; want 400 '%zz'
ask 'GET /a%%00b'; want 400 'zero byte'
ask 'POST /'; want 405 POST
ask 'GET /' evil.example; want 403 'another name'
ask 'GET /' 127.0.0.1.evil.example; want 403 'a name that begins like ours'
printf 'GET / HTTP/1.1\r\n\r\n' > request; send request; want 400 'no Host'
printf 'GET / HTTP/2.0\r\nHost: localhost\r\n\r\n' > request; send request; want 505 'HTTP/2'
{ printf 'GET / HTTP/1.1\r\nHost: localhost\r\nX: '; head -c 20000 /dev/zero | tr '\0' x; } > request; send request
case $(status) in 431 | '') ;; *) fail "a long head: $(status)" ;; esac
{ printf 'GET /'; head -c 2000 /dev/zero | tr '\0' x; printf ' HTTP/1.1\r\nHost: localhost\r\n\r\n'; } > request; send request
want 414 'a long path'

# only loopback listens; garbage, silence and hanging up do no harm
if [ -r /proc/net/tcp ]; then
    grep -iq "0100007F:$(printf %04X "$port") 00000000:0000 0A" /proc/net/tcp || fail "not listening on loopback"
    grep -iq "00000000:$(printf %04X "$port") 00000000:0000 0A" /proc/net/tcp && fail "listening on every address"
fi
bash -c 'for i in 1 2 3 4 5; do exec {fd}<> /dev/tcp/127.0.0.1/$0; done; sleep 15' "$port" &  # five that say nothing
quiet=$!
i=0
while [ $i -lt 60 ]; do
    { printf 'GET /%s' "$i"; head -c $((i * 37 % 900 + 1)) /dev/urandom; printf '\r\n\r\n'; } > request
    timeout 2 bash -c 'exec 3<> /dev/tcp/127.0.0.1/$0; cat request >&3; head -c 20 <&3' "$port" > /dev/null 2>&1
    i=$((i + 1))
done
kill -0 $server || fail "the server is gone: $(cat err.txt)"
ask 'GET /'
want 200 'after the garbage'
kill $quiet 2> /dev/null

# a port that is taken, and the end
expect 2 serve site --port "$port"
says stderr "port $port"
kill -TERM $server
for _ in $(seq 50); do kill -0 $server 2> /dev/null || break; sleep 0.1; done
wait $server || fail "it ended with $?"
[ ! -s err.txt ] || fail "said: $(cat err.txt)"
finish
