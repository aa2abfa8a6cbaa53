#!/bin/sh
# tools/struct_owners.sh objects to what it is there for: small trees, each with one fault.
set -eu
tool=$(cd "$(dirname "$0")/../.." && pwd)/tools/struct_owners.sh
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0
expect() {  # expect CODE FILE LINE: a tree with this line in this file
    rm -rf "$dir/src" && mkdir -p "$dir/src/respond" "$dir/src/$(dirname "$2")"
    echo "$3" > "$dir/src/$2"
    code=0
    "$tool" "$dir" > "$dir/out" 2>&1 || code=$?
    [ "$code" = "$1" ] || { echo "FAIL: exit code $code, expected $1, for '$3' in $2"; cat "$dir/out"; failed=1; }
}
expect 0 mesh/a.c 'mesh->face_vert[f][0] = 3;'
expect 1 adapt/a.c 'mesh->face_vert[f][0] = 3;'
expect 0 adapt/a.c 'if (mesh->face_vert[f][0] == 3) return;'
expect 0 sim/a.c 'mesh->pos[n] = sim->x[i];'
expect 1 sim/a.c 'e->fixed[i] |= 2;'
expect 1 dynamics/a.c 's->e->touched = NULL;'
expect 1 sim/a.c 'sim->contacts->set.count++;'
expect 1 respond/zones/a.c 'c->cache.count = 0;'
expect 0 respond/pairs/a.c 'c->cache.count = 0;'
expect 1 respond/clip/a.c 'memcpy(c->set.contact, from, size);'
exit $failed
