# The manual page and completion know every command and option that --help knows.
. "${REPO:?}/tests/cli/lib.sh"

expect 0 manual
says stdout '^\.TH TOILE 1'
cp stdout page
expect 0 --help
sed '/^examples/,$d' stdout | sed -n 's/^  \([a-z]*\)  *[a-z].*/\1/p' > names
[ "$(wc -l < names)" -gt 10 ] || fail "the overview lists no commands any more"
expect 0 manual bash
cp stdout toile.bash
expect 0 manual zsh
cp stdout _toile
bash -n toile.bash || fail "toile.bash is no shell script"
while read -r name; do
    grep -q "^\.SS $name\$" page || fail "$name is not in the manual page"
    grep -q "^    $name) _arguments" _toile || fail "$name is not in _toile"
    "$TOILE" "$name" --help | sed -n 's/^  *-[a-z, -]*--\([a-z-]*\).*/\1/p; s/^      --\([a-z-]*\).*/\1/p' | sort -u > options
    while read -r option; do
        grep -q "^    $name) options=.*--$option " toile.bash || fail "toile $name --$option is not in toile.bash"
    done < options
done < names
# what a shell makes of it
bash -c '. ./toile.bash; COMP_WORDS=(toile sw) COMP_CWORD=1; _toile; echo "${COMPREPLY[@]}"
         COMP_WORDS=(toile export --res) COMP_CWORD=2; _toile; echo "${COMPREPLY[@]}"' > stdout
says stdout '^sweep$'
says stdout '^--resample$'
if command -v zsh > /dev/null 2>&1; then
    cat > rc <<'END'
PROMPT=; PS2=; fpath=($PWD $fpath); autoload -U compinit; compinit -u -D
note() { print -r -- "$BUFFER" >> completed; BUFFER=; }
zle -N note; bindkey '^X' note; bindkey '^I' complete-word; : > completed
END
    cat > typed.zsh <<'END'
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell ". ./rc"
for i in {1..200}; do [[ -e completed ]] && break; sleep 0.05; done
for line in "$@"; do  # typed, completed, noted
    lines=$(wc -l < completed)
    zpty -w -n shell "$line"$'\t'$'\x18'
    for i in {1..200}; do zpty -r -t shell shown 2> /dev/null; (( $(wc -l < completed) > lines )) && break; sleep 0.05; done
done
zpty -d shell
END
    zsh -f typed.zsh 'toile swe' 'toile export --resa' 'toile run --thr' 'toile fabric --no-d' || fail "zsh"
    printf '%s \n' 'toile sweep' 'toile export --resample' 'toile run --threads' 'toile fabric --no-drape' | diff - completed || fail "zsh completes something else"
fi
if command -v man > /dev/null 2>&1 && command -v groff > /dev/null 2>&1; then
    man --warnings -l page > text 2> stderr || fail "man does not take the page"
    silent stderr
fi
expect 1 manual fish
expect 1 manual man bash
finish
