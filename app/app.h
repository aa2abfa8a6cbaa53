// app/app.h: what the commands of the program share: exit codes, options, messages, JSON, signals.
#pragma once
#include <stdbool.h>
#include <stdio.h>

#include "toile/base.h"

/// Exit codes, a contract with users' scripts.
typedef enum app_exit {
    APP_OK = 0,
    APP_USAGE = 1,    ///< unknown command or option, value out of range
    APP_INPUT = 2,    ///< a file or folder given is invalid, missing or cannot be used
    APP_FAILED = 3,   ///< the simulation failed, could not be written, or was interrupted (it can be resumed)
    APP_FINDING = 4,  ///< a check found something
} app_exit;

// --- options ---------------------------------------------------------------------------------------------

typedef enum app_kind { APP_FLAG, APP_TEXT, APP_INT, APP_REAL, APP_MANY } app_kind;

/// Texts in the order given, pointing into argv.
typedef struct app_list {
    const char **item;
    int32_t count;
} app_list;

/// One row of a command's table. `value` points at bool, const char *, int32_t, double or app_list by kind.
typedef struct app_option {
    const char *name;  ///< without the dashes
    char letter;       ///< short form, 0: none
    app_kind kind;
    void *value;
    double min, max;   ///< range of APP_INT and APP_REAL, both ends allowed
    const char *arg;   ///< name of the value in the help, NULL for flags
    const char *help;  ///< one line, default included; NULL: a synonym that the help leaves out
} app_option;

/// A command: what it is called, how it is explained and how it is run.
typedef struct app_command {
    const char *name;
    const char *summary;   ///< one line for the list of commands
    const char *synopsis;  ///< after "toile NAME "
    const char *about;     ///< a paragraph
    const char *examples;  ///< lines, each indented by two spaces
    const char *codes;     ///< what the exit codes mean here, lines indented by two spaces
    int (*run)(const struct app_command *self, int argc, char **argv);
} app_command;

/// All commands.
const app_command *app_commands(int *count);

/// Reads `argv[1..]` by the table. Words that are no option are collected in argv order into `words`, whose
/// array (argc entries) the caller provides, as it does for every APP_MANY. "--" ends the options. Returns
/// true to go on; false with *code set when help was printed (APP_OK) or usage was wrong (APP_USAGE).
bool app_parse(const app_command *self, const app_option *options, int32_t option_count, int argc, char **argv,
               app_list *words, int *code);

/// Runs a command that wants room for its words and no more; they are gone when it returns, what they point to is not.
int app_with_words(const app_command *self, int argc, char **argv,
                   int (*run)(const app_command *self, int argc, char **argv, app_list *words));

/// "toile run: MESSAGE" and a pointer to --help on stderr. Returns APP_USAGE.
int app_usage(const app_command *self, const char *format, ...) TL_PRINTF(2, 3);

/// The nearest of `names` (count entries, NULL ones ignored) if it is near enough to be a slip, else NULL.
const char *app_nearest(const char *word, const char *const *names, int32_t count);

/// Whole text as a number in [min, max].
bool app_read_int(const char *text, int32_t min, int32_t max, int32_t *out);
bool app_read_real(const char *text, double min, double max, double *out);

// --- output ----------------------------------------------------------------------------------------------

/// How the program was called, for commands that we suggest. Set once by main.
extern const char *app_program;

/// One line on stderr: "toile: MESSAGE".
void app_say(const char *format, ...) TL_PRINTF(1, 2);

/// `text` as a JSON string with its quotes; bytes that are not UTF-8 become U+FFFD.
void app_json_text(FILE *to, const char *text);
/// A JSON number; null when not finite.
void app_json_real(FILE *to, double value);

/// Reports a failed call: the message on stderr and, with `json`, an object on stdout. Returns the exit code.
int app_fail(const app_command *self, bool json, app_exit code, const tl_error *err);

/// One file under both names, so that writing the one would lose the other. Missing files and NULL are no file.
bool app_same_file(const char *a, const char *b);

/// The exit code for a status; `io` is what TL_IO means here (input missing or output impossible).
app_exit app_exit_of(tl_status status, app_exit io);

/// `word` as one word of a POSIX shell, quoted only when it has to be.
void app_print_word(FILE *to, const char *word);

/// 1234567 as "1,234,567" in the caller's buffer of at least 32 bytes.
const char *app_count(int64_t value, char *buffer);
/// Seconds as "0:07", "12:34", "1:02:03" in the caller's buffer of at least 32 bytes.
const char *app_clock(double seconds, char *buffer);

// --- the machine -----------------------------------------------------------------------------------------

/// Cores this process may use, at least 1.
int32_t app_cores(void);
double app_now(void);  ///< monotonic [s]

/// From now on the first SIGINT, SIGTERM or SIGHUP only sets a flag, and says so unless `quiet`; a second one
/// ends the program at once.
void app_stop_on_signals(bool quiet);
bool app_stopping(void);

// --- commands --------------------------------------------------------------------------------------------

int app_run(const app_command *self, int argc, char **argv);
int app_resume(const app_command *self, int argc, char **argv);
int app_check(const app_command *self, int argc, char **argv);
int app_refine(const app_command *self, int argc, char **argv);
int app_manual(const app_command *self, int argc, char **argv);
int app_sweep(const app_command *self, int argc, char **argv);
int app_export(const app_command *self, int argc, char **argv);
int app_info(const app_command *self, int argc, char **argv);
int app_convert(const app_command *self, int argc, char **argv);
int app_bench(const app_command *self, int argc, char **argv);
int app_render(const app_command *self, int argc, char **argv);
int app_serve(const app_command *self, int argc, char **argv);
int app_view(const app_command *self, int argc, char **argv);
int app_plot(const app_command *self, int argc, char **argv);
int app_fabric(const app_command *self, int argc, char **argv);
int app_fit_fabric(const app_command *self, int argc, char **argv);
int app_fabrics(const app_command *self, int argc, char **argv);
int app_drape(const app_command *self, int argc, char **argv);
int app_mesh(const app_command *self, int argc, char **argv);
