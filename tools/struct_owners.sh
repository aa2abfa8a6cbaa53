#!/bin/sh
# tools/struct_owners.sh [ROOT]: the units of the contact stage write only to their own part of tl_contacts.
#
# src/respond/contact_impl.h gives every unit one member. This looks for assignments (=, +=, ++ ..) and for copies into
# arrays (memcpy, memset) of that member outside of the unit's files. Reports are counters for all to add to.
set -eu
root=${1:-$(dirname "$0")/..}
cd "$root/src/respond"
fault=0
check() {  # check MEMBER FILES: who writes to c->MEMBER
    found=$(grep -rnE "c->$1(\.[a-z_]+)?(\[[^]]*\])*(\.[a-z_]+)*(\[[^]]*\])* *([-+*/|&]?=[^=]|\+\+|--)|mem(cpy|set|move)\(&?c->$1\." \
        --include='*.c' . | grep -vE "^\./($2)" || true)
    [ -z "$found" ] && return
    echo "written outside of $2: c->$1" >&2
    echo "$found" >&2
    fault=1
}
check cache 'pairs/'
check set 'barrier/'
check clip 'clip/'
check pinch 'pinch/'
check zones 'zones/'
check motion 'contact\.c'
check policy 'contact\.c'
[ $fault = 0 ] && echo "struct owners: every unit of src/respond writes to its own part alone"
exit $fault
