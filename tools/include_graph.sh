#!/bin/sh
# tools/include_graph.sh [--dot] [ROOT]: who includes whom. Fails when an include points the wrong way.
#
# base < math < mesh, pattern < body, physics, detect < respond < adapt, dynamics, dress < sim, post, render < io < scene < run.
# A module includes itself, modules of earlier groups and toile/*.h; modules of one group do not include each other, so there can be no cycle
# between modules. app, bench, examples, viewer, web and bindings see toile/*.h and their own folder (app also bench/bench.h and
# viewer/viewer.h). Tests may look inside and are left out. Modules before sim include no public header that knows the whole
# simulation (toile/sim.h and what includes it): the types of a stage have a header each. No module includes toile/core.h or toile/toile.h.
# Headers must not include each other in a circle either. --dot prints the graph for graphviz instead of a list.
set -eu
dot=0
if [ "${1:-}" = --dot ]; then dot=1; shift; fi
root=${1:-$(dirname "$0")/..}
cd "$root"
list=$(find include src app bench examples viewer web bindings -name '*.[ch]' 2>/dev/null | LC_ALL=C sort)
[ -n "$list" ] || { echo "include_graph: no sources under $root" >&2; exit 1; }
# shellcheck disable=SC2086  # one word per file: our file names hold no blanks
grep -Hn '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' $list /dev/null | awk -v dot="$dot" '
function fault(text) { print "include_graph: " text > "/dev/stderr"; faults++ }
function module_of(file,   part) {  # src/mesh/x.h -> mesh, app/x.c -> app, include/toile/x.h -> toile
    split(file, part, "/")
    if (part[1] == "src") return part[2]
    if (part[1] == "include") return "toile"
    return part[1]
}
function dir_of(file) { sub(/[^\/]*$/, "", file); return file }
function knows_sim(file,   n, i, next_files) {  # is toile/sim.h among what a public header includes?
    if (file == "include/toile/sim.h") return 1
    n = split(includes[file], next_files, " ")
    for (i = 1; i <= n; i++) if (knows_sim(next_files[i])) return 1
    return 0
}
function visit(file,   n, i, next_files) {  # depth first; a header met again on its own path closes a circle
    state[file] = 1
    n = split(includes[file], next_files, " ")
    for (i = 1; i <= n; i++) {
        if (state[next_files[i]] == 1) fault("circle of includes through " next_files[i] " and " file)
        else if (!state[next_files[i]]) visit(next_files[i])
    }
    state[file] = 2
}
BEGIN {
    group_count = split("base|math|mesh pattern|body physics detect|respond|adapt dynamics dress|sim post render|io|scene|run", groups, "|")
    for (g = 1; g <= group_count; g++) {
        n = split(groups[g], names, " ")
        for (i = 1; i <= n; i++) level[names[i]] = g
    }
    n = split("app bench examples viewer web bindings", names, " ")
    for (i = 1; i <= n; i++) outside[names[i]] = 1
}
{
    file = $0; sub(/:.*/, "", file)
    line = $0; sub(/^[^:]*:/, "", line); sub(/:.*/, "", line)
    path = $0; sub(/^[^"]*"/, "", path); sub(/".*/, "", path)
    from = module_of(file)
    where = file ":" line
    if (path ~ /^toile\//) {
        to = "toile"; target = "include/" path
        if (path == "toile/core.h" || path == "toile/toile.h") { if (from in level) fault(where ": \"" path "\" is for hosts, include the header of what is needed") }
        else if (from in level && level[from] < level["sim"]) { public_count++; public_where[public_count] = where; public_path[public_count] = target }
    }
    else if (from == "toile") { fault(where ": a public header includes \"" path "\", only toile/*.h is allowed"); next }
    else if (outside[from]) {
        target = dir_of(file) path; to = from
        if (from == "app" && path == "../bench/bench.h") { to = "bench"; target = "bench/bench.h" }
        else if (from == "app" && path == "../viewer/viewer.h") { to = "viewer"; target = "viewer/viewer.h" }
        else if (path ~ /\//) { fault(where ": " from " includes \"" path "\", it sees toile/*.h and its own folder alone"); next }
    } else {
        if (!(from in level)) { fault(where ": module " from " has no place in the order, add it to tools/include_graph.sh"); level[from] = group_count; }
        if (path ~ /\//) { split(path, part, "/"); to = part[1]; target = "src/" path }
        else { to = from; target = dir_of(file) path }
        if (!(to in level)) fault(where ": \"" path "\" is in no known module")
        else if (to != from && level[to] > level[from]) fault(where ": " from " includes " path ", but " to " comes after " from)
        else if (to != from && level[to] == level[from]) fault(where ": " from " includes " path ", but modules of one group do not see each other")
    }
    includes[file] = includes[file] " " target
    if (!(file in known)) { known[file] = 1; files[++file_count] = file }
    if (from != to) edges[from " -> " to]++
}
END {
    for (i = 1; i <= file_count; i++) if (!state[files[i]]) visit(files[i])
    for (i = 1; i <= public_count && !faults; i++)
        if (knows_sim(public_path[i])) fault(public_where[i] ": " public_path[i] " knows the whole simulation, include the header of the stage")
    edge_count = 0
    for (edge in edges) sorted[++edge_count] = edge
    for (i = 2; i <= edge_count; i++) {  # insertion sort: a handful of edges, and the same order everywhere
        edge = sorted[i]
        for (j = i - 1; j > 0 && sorted[j] > edge; j--) sorted[j + 1] = sorted[j]
        sorted[j + 1] = edge
    }
    if (dot == 1) print "digraph includes {\n    rankdir=RL;"
    for (i = 1; i <= edge_count; i++) {
        if (dot == 1) print "    " sorted[i] ";"
        else printf "%-24s %d\n", sorted[i], edges[sorted[i]]
    }
    if (dot == 1) print "}"
    if (faults) { print "include_graph: " faults " faults" > "/dev/stderr"; exit 1 }
}'
