#!/bin/sh
# tools/struct_owners.sh [ROOT]: nobody writes to a struct of somebody else.
#
# Between modules: a struct that several modules read (matrix, elements, strain limits, contacts, trees, the topology of a
# mesh) is written by the folder that declares it alone; others call its functions. Positions, velocities and the other
# columns of a mesh that are no topology are data for its users to fill.
# Within src/respond: every unit of the contact stage writes to its own member of tl_contacts (contact_impl.h).
# Looked for are assignments (=, +=, ++ ..) and copies into arrays (memcpy, memset). Reports are counters for all to add to.
set -eu
root=${1:-$(dirname "$0")/..}
cd "$root/src"
fault=0
write='(\[[^]]*\])*(\.[a-z_]+)*(\[[^]]*\])* *([-+*/|&]?=[^=]|\+\+|--)'
# check WHAT OWNERS REGEX [DIR]: WHAT, found as REGEX, may be written in files that match OWNERS alone
check() {
    found=$(grep -rnE "$3$write|mem(cpy|set|move)\(&?$3[.,]" --include='*.[ch]' "${4:-.}" | grep -vE "^(\./)?($2)" || true)
    [ -z "$found" ] && return
    echo "struct owners: $1 written outside of $2" >&2
    echo "$found" >&2
    fault=1
}
topology='(node_vert|vert_node|vert_next|vert_face|edge_node|edge_face|face_vert|face_edge|face_label|face_panel|panel_count|slots|log)'
check 'the topology of a mesh' 'mesh/' "\b(mesh|(cloth|c|s|job)->mesh)->$topology"
check 'elements' 'physics/' '\b(elements|sim->elements|world->elements|job->e|s->e|problem->elements)->[a-z_]+'
check 'elements' 'physics/|post/|adapt/|run/|scene/|pattern/|io/' '\be->(fixed|touched|mass|face|grad|node_of|face_of|rest)\b'
check 'strain limits' 'physics/' '\b(limits|sim->limits|s->limits)->[a-z_]+'
check 'contacts' 'respond/' '\b(contacts|sim->contacts)->[a-z_]+'
check 'a tree of boxes' 'detect/bvh/' '\b(bvh|tree|c->tree)->(child|leaf|volume|x0|x1|margin|surface|def)\b'
check 'the structure of a matrix' 'math/|respond/barrier/barrier_blocks\.c' '\b(matrix|bsr)->(row_start|col|lower_row|lower_block|row_count)\b'
for unit in 'cache pairs/' 'set barrier/' 'clip clip/' 'pinch pinch/' 'zones zones/' 'motion contact\.c' 'policy contact\.c'; do
    check "c->${unit% *}" "respond/${unit#* }" "\bc->${unit% *}(\.[a-z_]+)?" respond
done
[ $fault = 0 ] && echo "struct owners: every folder, and every unit of src/respond, writes to its own structs alone"
exit $fault
