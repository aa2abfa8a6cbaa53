// app/cmd_manual.c: `toile manual`: the manual page and shell completion, made from the same texts as --help.

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"

enum { OPTION_MAX = 64 };

// What `toile COMMAND --help` prints. NULL: no memory. The caller frees.
static char *help_of(const app_command *command)
{
    char *text = NULL, *ask[] = {(char *)command->name, "--help", NULL};
    size_t size;
    FILE *memory = open_memstream(&text, &size), *terminal = stdout;
    if (!memory) return NULL;
    fflush(stdout);
    stdout = memory;  // glibc and musl let us, and nothing else writes now
    command->run(command, 2, ask);
    stdout = terminal;
    fclose(memory);
    return text;
}

// The next option of a help text: its name without dashes, and the first line of what it is. False: no more.
static bool next_option(const char **at, char name[OPTION_MAX], char about[160], bool *takes_value)
{
    for (const char *line = *at; *line;) {
        const char *end = line + strcspn(line, "\n"), *dashes = strstr(line, "--");
        *at = *end ? end + 1 : end;
        const bool option = strncmp(line, "  -", 3) == 0 || strncmp(line, "      --", 8) == 0;
        if (option && dashes && dashes < end) {
            const char *from = dashes + 2;
            const size_t n = strspn(from, "abcdefghijklmnopqrstuvwxyz-0123456789");
            if (n > 0 && n < OPTION_MAX) {
                memcpy(name, from, n), name[n] = 0;
                *takes_value = from[n] == ' ' && from[n + 1] != ' ' && from + n < end;
                const char *words = from + n + strcspn(from + n, "\n");
                for (const char *c = from + n; c + 1 < end; c++)
                    if (c[0] == ' ' && c[1] == ' ') {
                        words = c + strspn(c, " ");
                        break;
                    }
                size_t k = 0;
                for (; words < end && k < 150; words++) about[k++] = *words;
                about[k] = 0;
                return true;
            }
        }
        line = *at;
    }
    return false;
}

// Text that troff prints as it stands.
static void print_troff(const char *text)
{
    bool line_begins = true;
    for (const char *c = text; *c; c++) {
        if (line_begins && (*c == '.' || *c == '\'')) fputs("\\&", stdout);
        if (*c == '\\')
            fputs("\\e", stdout);
        else if (*c == '-')
            fputs("\\-", stdout);
        else
            putchar(*c);
        line_begins = *c == '\n';
    }
}

static app_exit print_man(const app_command *commands, int count)
{
    printf(".TH TOILE 1 \"\" \"toile %s\" \"User Commands\"\n", tl_version());
    printf(".SH NAME\ntoile \\- simulate cloth and garments\n");
    printf(".SH SYNOPSIS\n.B toile\n.I COMMAND\n[\\fIOPTION\\fR]...\n");
    printf(
        ".SH DESCRIPTION\nFrom a small scene file to meshes on disk: cloth on adaptive meshes, with contact that lets "
        "nothing pass, the same\nbytes on any number of threads. Lengths are in metres, y is up.\n.PP\n");
    for (int i = 0; i < count; i++) {
        printf(".TP\n.B ");
        print_troff(commands[i].name);
        putchar('\n');
        print_troff(commands[i].summary);
        putchar('\n');
    }
    printf(".SH COMMANDS\n");
    for (int i = 0; i < count; i++) {
        char *help = help_of(&commands[i]);
        if (!help) return APP_FAILED;
        printf(".SS ");
        print_troff(commands[i].name);
        printf("\n.nf\n");
        print_troff(help);
        printf(".fi\n");
        free(help);
    }
    printf(".SH ENVIRONMENT\n.TP\n.B TOILE_DATA\nfolder with materials/, in place of the installed one\n");
    printf(".SH EXIT STATUS\n0 done; 1 usage; 2 invalid input; 3 simulation failed or interrupted; 4 a check found "
           "something\n");
    return APP_OK;
}

static app_exit print_bash(const app_command *commands, int count)
{
    printf("# completion of toile for bash, made by 'toile manual bash'\n_toile()\n{\n"
           "    local word=${COMP_WORDS[COMP_CWORD]} options=\n    COMPREPLY=()\n"
           "    if [ \"$COMP_CWORD\" = 1 ]; then\n        COMPREPLY=($(compgen -W \"");
    for (int i = 0; i < count; i++) printf("%s ", commands[i].name);
    printf("--help --version\" -- \"$word\"))\n        return\n    fi\n    case ${COMP_WORDS[1]} in\n");
    for (int i = 0; i < count; i++) {
        char *help = help_of(&commands[i]), name[OPTION_MAX], about[160];
        if (!help) return APP_FAILED;
        bool value;
        printf("    %s) options=\"", commands[i].name);
        for (const char *at = help; next_option(&at, name, about, &value);) printf("--%s ", name);
        printf("\" ;;\n");
        free(help);
    }
    printf("    esac\n    case $word in\n    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$word\")) ;;\n"
           "    *) COMPREPLY=($(compgen -f -- \"$word\")) ;;\n    esac\n}\n"
           "complete -o filenames -F _toile toile\n");
    return APP_OK;
}

// Within single quotes of zsh, and within the brackets of an option's explanation.
static void print_quoted(const char *text)
{
    for (const char *c = text; *c; c++) {
        if (*c == '\'')
            fputs("'\\''", stdout);
        else if (strchr("[]:\\", *c))
            printf("\\%c", *c);
        else
            putchar(*c);
    }
}

static app_exit print_zsh(const app_command *commands, int count)
{
    printf("#compdef toile\n# completion of toile for zsh, made by 'toile manual zsh'\n_toile()\n{\n    local -a "
           "commands\n"
           "    commands=(\n");
    for (int i = 0; i < count; i++) {
        printf("        '%s:", commands[i].name);
        print_quoted(commands[i].summary);
        printf("'\n");
    }
    printf("    )\n    if (( CURRENT == 2 )); then\n        _describe command commands\n        return\n    fi\n"
           "    case $words[2] in\n");
    for (int i = 0; i < count; i++) {
        char *help = help_of(&commands[i]), name[OPTION_MAX], about[160];
        if (!help) return APP_FAILED;
        bool value;
        printf("    %s) _arguments", commands[i].name);
        for (const char *at = help; next_option(&at, name, about, &value);) {
            printf(" \\\n        '*--%s[", name);
            print_quoted(about);
            printf(value ? "]:value:_files'" : "]'");
        }
        printf(" \\\n        '*:file:_files' ;;\n");
        free(help);
    }
    printf("    esac\n}\n_toile \"$@\"\n");
    return APP_OK;
}

static int manual_run(const app_command *self, int argc, char **argv, app_list *words)
{
    int code, count;
    if (!app_parse(self, NULL, 0, argc, argv, words, &code)) return code;
    const app_command *commands = app_commands(&count);
    const char *what = words->count == 0 ? "man" : words->item[0];
    if (words->count > 1) return app_usage(self, "one of man, bash, zsh");
    if (strcmp(what, "man") == 0) return print_man(commands, count);
    if (strcmp(what, "bash") == 0) return print_bash(commands, count);
    if (strcmp(what, "zsh") == 0) return print_zsh(commands, count);
    return app_usage(self, "'%s', must be man, bash or zsh", what);
}

int app_manual(const app_command *self, int argc, char **argv) { return app_with_words(self, argc, argv, manual_run); }
