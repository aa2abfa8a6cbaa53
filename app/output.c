// app/output.c: messages for people, JSON for scripts, and the few facts about the machine we need.

#include "app.h"

#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

const char *app_program = "toile";

void app_say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("toile: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

bool app_same_file(const char *a, const char *b)
{
    struct stat s, t;
    if (!a || !b || stat(a, &s) != 0 || stat(b, &t) != 0) return false;
    return s.st_dev == t.st_dev && s.st_ino == t.st_ino;
}

// Length in bytes of the well-formed UTF-8 sequence at s (RFC 3629), 0 if there is none.
static int utf8_length(const unsigned char *s)
{
    if (s[0] < 0x80) return 1;
    const int n = s[0] >= 0xf0 && s[0] <= 0xf4 ? 4 : s[0] >= 0xe0 ? 3 : s[0] >= 0xc2 ? 2 : 0;
    if (s[0] > 0xf4 || !n) return 0;
    for (int i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80) return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90)) return 0;    // overlong
    if ((s[0] == 0xed && s[1] >= 0xa0) || (s[0] == 0xf4 && s[1] >= 0x90)) return 0;  // surrogate, too large
    return n;
}

void app_json_text(FILE *to, const char *text)
{
    fputc('"', to);
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        const int n = utf8_length(s);
        if (n == 0)
            fputs("\\ufffd", to);
        else if (*s == '"' || *s == '\\')
            fprintf(to, "\\%c", *s);
        else if (*s < 0x20)
            fprintf(to, "\\u%04x", *s);
        else
            fwrite(s, 1, (size_t)n, to);
        s += n ? n : 1;
    }
    fputc('"', to);
}

void app_json_real(FILE *to, double value)
{
    if (isfinite(value))
        fprintf(to, "%.9g", value);
    else
        fputs("null", to);
}

app_exit app_exit_of(tl_status status, app_exit io)
{
    switch (status) {
    case TL_OK: return APP_OK;
    case TL_BAD_ARG: return APP_USAGE;
    case TL_BAD_INPUT: return APP_INPUT;
    case TL_IO: return io;
    case TL_NO_MEMORY:
    case TL_FAILED:
    case TL_CANCELLED: break;
    }
    return APP_FAILED;
}

int app_fail(const app_command *self, bool json, app_exit code, const tl_error *err)
{
    const char *message = err->message[0] ? err->message : tl_status_name(err->status);
    app_say("%s", message);
    if (json) {
        printf("{\"command\": \"%s\", \"status\": ", self->name);
        app_json_text(stdout, tl_status_name(err->status));
        printf(", \"exit_code\": %d, \"error\": ", (int)code);
        app_json_text(stdout, message);
        printf("}\n");
    }
    return code;
}

void app_print_word(FILE *to, const char *word)
{
    const char *plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=,:+@%";
    if (*word && strspn(word, plain) == strlen(word)) {
        fputs(word, to);
        return;
    }
    fputc('\'', to);
    for (; *word; word++) {
        if (*word == '\'')
            fputs("'\\''", to);
        else
            fputc(*word, to);
    }
    fputc('\'', to);
}

const char *app_count(int64_t value, char *buffer)
{
    char digits[24];
    const int n = snprintf(digits, sizeof digits, "%lld", (long long)value);
    char *out = buffer;
    for (int i = 0; i < n; i++) {
        *out++ = digits[i];
        if ((n - i - 1) % 3 == 0 && i + 1 < n && digits[i] != '-') *out++ = ',';
    }
    *out = '\0';
    return buffer;
}

const char *app_clock(double seconds, char *buffer)
{
    if (!(seconds >= 0 && seconds < 1e9)) return strcpy(buffer, "?");
    const long s = lround(seconds);
    if (s >= 3600)
        snprintf(buffer, 32, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    else
        snprintf(buffer, 32, "%ld:%02ld", s / 60, s % 60);
    return buffer;
}

int32_t app_cores(void)
{
#ifdef __linux__
    cpu_set_t set;  // what this process may use, which taskset and containers make fewer than there are
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) return CPU_COUNT(&set);
#endif
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int32_t)online : 1;
}

double app_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// The only state that a signal may touch.
static volatile sig_atomic_t stop_requested, stop_quiet;

static void on_stop(int signal_number)
{
    if (stop_requested) {  // asked twice: end at once, as the signal would have
        signal(signal_number, SIG_DFL);
        raise(signal_number);
        return;
    }
    stop_requested = 1;
    if (!stop_quiet) {
        static const char note[] = "\ntoile: stopping (once more to end at once)\n";
        const ssize_t written = write(STDERR_FILENO, note, sizeof note - 1);
        (void)written;  // nothing to be done about it here
    }
}

void app_stop_on_signals(bool quiet)
{
    stop_quiet = quiet;
    struct sigaction action = {.sa_handler = on_stop, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    struct sigaction old;
    if (sigaction(SIGHUP, NULL, &old) == 0 && old.sa_handler != SIG_IGN)  // nohup asked for it to be ignored
        sigaction(SIGHUP, &action, NULL);
}

bool app_stopping(void) { return stop_requested; }
