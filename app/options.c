// app/options.c: the option parser: one table per command serves parsing, help and suggestions.

#include "app.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_MAX = 64, WORD_MAX = 64, HELP_COLUMN = 28 };

bool app_read_int(const char *text, int32_t min, int32_t max, int32_t *out)
{
    char *end;
    errno = 0;
    const long value = strtol(text, &end, 10);
    if (end == text || *end || errno || value < min || value > max) return false;
    *out = (int32_t)value;
    return true;
}

bool app_read_real(const char *text, double min, double max, double *out)
{
    char *end;
    errno = 0;
    const double value = strtod(text, &end);
    if (end == text || *end || errno || !isfinite(value) || value < min || value > max) return false;
    *out = value;
    return true;
}

// Edits (insert, delete, replace, swap of neighbours) that turn a into b: Damerau-Levenshtein, restricted
// form.
static int edit_distance(const char *a, const char *b)
{
    const int m = (int)strlen(a), n = (int)strlen(b);
    if (m > WORD_MAX || n > WORD_MAX) return INT_MAX;
    int rows[3][WORD_MAX + 1];
    for (int j = 0; j <= n; j++) rows[0][j] = j;
    for (int i = 1; i <= m; i++) {
        int *row = rows[i % 3];
        const int *up = rows[(i + 2) % 3], *up2 = rows[(i + 1) % 3];
        row[0] = i;
        for (int j = 1; j <= n; j++) {
            int best = up[j - 1] + (a[i - 1] != b[j - 1]);
            if (up[j] + 1 < best) best = up[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && up2[j - 2] + 1 < best)
                best = up2[j - 2] + 1;
            row[j] = best;
        }
    }
    return rows[m % 3][n];
}

const char *app_nearest(const char *word, const char *const *names, int32_t count)
{
    const char *best = NULL;
    int best_distance = INT_MAX;
    for (int32_t i = 0; i < count; i++) {
        if (!names[i]) continue;
        int distance = edit_distance(word, names[i]);
        // a beginning typed in full ("--check" for "checkpoint-every") is a better guess than a look-alike
        if (strlen(word) >= 3 && strncmp(word, names[i], strlen(word)) == 0) distance = 1;
        if (distance < best_distance) best = names[i], best_distance = distance;
    }
    const int length = (int)strlen(word), allowed = length <= 3 ? 1 : length <= 6 ? 2 : 3;
    return best_distance <= allowed ? best : NULL;
}

int app_usage(const app_command *self, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "toile %s: ", self->name);
    vfprintf(stderr, format, args);
    fprintf(stderr, "\nusage: toile %s %s\n'toile %s --help' explains.\n", self->name, self->synopsis, self->name);
    va_end(args);
    return APP_USAGE;
}

static void print_help(const app_command *self, const app_option *options, int32_t option_count)
{
    printf("toile %s: %s\n\nusage: toile %s %s\n\n%s\n\noptions:\n", self->name, self->summary, self->name,
           self->synopsis, self->about);
    for (int32_t i = 0; i < option_count; i++) {
        const app_option *o = &options[i];
        if (!o->help) continue;
        char head[64];
        if (o->letter)
            snprintf(head, sizeof head, "-%c, --%s%s%s", o->letter, o->name, o->arg ? " " : "", o->arg ? o->arg : "");
        else
            snprintf(head, sizeof head, "    --%s%s%s", o->name, o->arg ? " " : "", o->arg ? o->arg : "");
        printf("  %-*s  ", HELP_COLUMN, head);
        for (const char *c = o->help; *c; c++) {  // further lines of an explanation line up
            putchar(*c);
            if (*c == '\n') printf("%*s", HELP_COLUMN + 4, "");
        }
        putchar('\n');
    }
    printf("  %-*s  this text\n", HELP_COLUMN, "-h, --help");
    printf("\nexamples:\n%s\n\nexit codes:\n%s\n", self->examples, self->codes);
}

static bool unknown_option(const app_command *self, const app_option *options, int32_t option_count, const char *given,
                           const char *name)
{
    const char *names[NAMES_MAX] = {"help"};
    int32_t count = 1;
    for (int32_t i = 0; i < option_count && count < NAMES_MAX; i++)
        if (options[i].help) names[count++] = options[i].name;
    const char *near = app_nearest(name, names, count);
    if (near)
        app_usage(self, "unknown option '%s', did you mean '--%s'?", given, near);
    else
        app_usage(self, "unknown option '%s'", given);
    return false;
}

static bool store(const app_command *self, const app_option *o, const char *text)
{
    switch (o->kind) {
    case APP_FLAG: *(bool *)o->value = true; return true;
    case APP_TEXT:
        if (!*text) return app_usage(self, "--%s needs a value, '' given", o->name), false;
        *(const char **)o->value = text;
        return true;
    case APP_INT:
        if (app_read_int(text, (int32_t)o->min, (int32_t)o->max, o->value)) return true;
        app_usage(self, "--%s '%s', must be a whole number from %.0f to %.0f", o->name, text, o->min, o->max);
        return false;
    case APP_REAL:
        if (app_read_real(text, o->min, o->max, o->value)) return true;
        app_usage(self, "--%s '%s', must be a number from %g to %g", o->name, text, o->min, o->max);
        return false;
    case APP_MANY: {
        app_list *list = o->value;
        list->item[list->count++] = text;
        return true;
    }
    }
    return false;
}

bool app_parse(const app_command *self, const app_option *options, int32_t option_count, int argc, char **argv,
               app_list *words, int *code)
{
    *code = APP_USAGE;
    bool only_words = false;
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (only_words || word[0] != '-' || !word[1]) {
            words->item[words->count++] = word;
            continue;
        }
        if (strcmp(word, "--") == 0) {
            only_words = true;
            continue;
        }
        const bool is_long = word[1] == '-';
        const char *name = word + (is_long ? 2 : 1);
        const size_t length = is_long ? strcspn(name, "=") : 1;
        const char *inline_value = NULL;  // "--out=x" or "-ox"
        if (is_long && name[length] == '=') inline_value = name + length + 1;
        if (!is_long && name[1]) inline_value = name + 1;

        if ((is_long && length == 4 && strncmp(name, "help", 4) == 0) || strcmp(word, "-h") == 0) {
            print_help(self, options, option_count);
            *code = APP_OK;
            return false;
        }
        const app_option *found = NULL;
        for (int32_t k = 0; k < option_count && !found; k++) {
            const app_option *o = &options[k];
            if (is_long ? strlen(o->name) == length && strncmp(o->name, name, length) == 0 : o->letter == *name)
                found = o;
        }
        if (!found) {
            char bare[WORD_MAX + 1];
            snprintf(bare, sizeof bare, "%.*s", (int)(is_long ? length : strlen(name)), name);
            return unknown_option(self, options, option_count, word, bare);
        }
        if (found->kind == APP_FLAG) {
            if (inline_value) {
                app_usage(self, "--%s takes no value, '%s' given", found->name, inline_value);
                return false;
            }
        } else if (!inline_value) {
            if (i + 1 >= argc) {
                app_usage(self, "--%s needs a value (%s)", found->name, found->arg);
                return false;
            }
            inline_value = argv[++i];
        }
        if (!store(self, found, inline_value)) return false;
    }
    *code = APP_OK;
    return true;
}

int app_with_words(const app_command *self, int argc, char **argv,
                   int (*run)(const app_command *self, int argc, char **argv, app_list *words))
{
    app_list words = {calloc((size_t)argc, sizeof *words.item), 0};
    if (!words.item) return app_fail(self, false, APP_FAILED, &(tl_error){TL_NO_MEMORY, "out of memory"});
    const int code = run(self, argc, argv, &words);
    free(words.item);
    return code;
}
