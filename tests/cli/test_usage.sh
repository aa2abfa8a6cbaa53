# Wrong usage: exit code 1, nothing on stdout, a message that names the word and suggests the right one.
. "${REPO:?}/tests/cli/lib.sh"

wrong() {  # wrong PATTERN ARGUMENT...
    pattern=$1
    shift
    expect 1 "$@"
    silent stdout
    says stderr "$pattern"
}
wrong 'usage'
wrong "unknown command 'rnu', did you mean 'run'" rnu
wrong "unknown command 'chekc', did you mean 'check'" chekc out
wrong "unknown command 'frobnicate'" frobnicate
wrong "unknown option '--verison', did you mean '--version'" --verison
wrong "unknown command 'runn'" help runn
wrong "unknown option '--thread', did you mean '--threads'" run "$DATA/tiny.json" --thread 2
wrong "unknown option '--frmaes=3', did you mean '--frames'" run "$DATA/tiny.json" --frmaes=3
wrong "unknown option '--strian', did you mean '--strain'" check out --strian 1
wrong "unknown option '--zzzzzz'" info x --zzzzzz
wrong "unknown option '-z'" run x -z
wrong 'needs a value' run "$DATA/tiny.json" --out
wrong 'needs a value' run "$DATA/tiny.json" --out=
wrong "frames 'ten', must be" run "$DATA/tiny.json" --frames ten
wrong "frames '-1', must be" run "$DATA/tiny.json" --frames -1
wrong "frames '99999999999999999999', must be" run "$DATA/tiny.json" --frames 99999999999999999999
wrong "threads '0', must be" run "$DATA/tiny.json" --threads 0
wrong "threads '2x', must be" run "$DATA/tiny.json" --threads 2x
wrong "quiet takes no value" run "$DATA/tiny.json" --quiet=yes
wrong "strain-limit 'nan', must be" check out --strain-limit nan
wrong "strain-limit '-1', must be" check out --strain-limit=-1
wrong 'which scene' run
wrong 'which scene' run --frames 3
wrong 'too much' run "$DATA/tiny.json" "$DATA/tiny.json"
wrong 'one folder' check
wrong 'one folder' check a b
wrong 'one folder' resume
wrong 'one file' info
wrong 'one file' info a b
wrong "unknown benchmark 'dynamcs', did you mean 'dynamics'" bench dynamcs
wrong "sizes 'many', must be" bench dynamics --sizes many
wrong "threads '0', must be" bench dynamics --threads 0
wrong "scenes 'curtain', must be" bench dynamics --scenes curtain
wrong "linear 'magic', must be one of auto, " bench dynamics --linear magic
rm -f stdout stderr
[ -z "$(ls -A .)" ] || fail "wrong usage left files behind: $(ls)"
finish
