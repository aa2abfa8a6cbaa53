// app/progress.c: drawing of the progress line. Everything goes to stderr, so stdout stays clean for scripts.

#include "progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "app.h"

enum { BAR_CELLS = 24, LINE_MAX_COLUMNS = 240, LINES_EVERY_PERCENT = 10 };
static const double REDRAW_SECONDS = 0.1;  // often enough to look alive, rare enough to cost nothing

static int terminal_columns(void)
{
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20) return size.ws_col;
    return 80;
}

void progress_init(progress *p, const char *name, int32_t steps_per_frame, bool quiet)
{
    *p = (progress){.steps_per_frame = steps_per_frame > 0 ? steps_per_frame : 1};
    snprintf(p->name, sizeof p->name, "%s", name);
    const char *terminal = getenv("TERM");
    const bool redraws = isatty(STDERR_FILENO) && terminal && strcmp(terminal, "dumb") != 0;
    p->style = quiet ? PROGRESS_SILENT : redraws ? PROGRESS_BAR : PROGRESS_LINES;
}

static double fraction_done(const progress *p)
{
    if (p->last.frames <= 0) return 1;
    const double within = (double)p->steps_into / p->steps_per_frame;
    const double f = (p->last.frame + (within < 1 ? within : 1)) / p->last.frames;
    return f < 1 ? f : 1;
}

// "frame 12/120  0:31 left  10,000 faces  2.1 newton  14.2 ms/step": the part that both styles share.
static void describe(const progress *p, char *text, size_t size)
{
    char faces[32], left[32];
    const tl_run_progress *now = &p->last;
    int n = snprintf(text, size, "frame %d/%d  %s left  %s faces", now->frame, now->frames,
                     app_clock(now->seconds_left, left), app_count(now->faces, faces));
    if (now->frame > 0 && n > 0 && (size_t)n < size)
        n += snprintf(text + n, size - (size_t)n, "  %.1f newton/step  %.1f ms/step",
                      (double)now->last.newton_iterations / p->steps_per_frame,
                      1e3 * now->last.seconds.total / p->steps_per_frame);
    if (now->last.contact.contacts > 0 && n > 0 && (size_t)n < size)
        n += snprintf(text + n, size - (size_t)n, "  %s contacts", app_count(now->last.contact.contacts, faces));
    if (now->last.rejected > 0 && n > 0 && (size_t)n < size)
        snprintf(text + n, size - (size_t)n, "  %d retried", now->last.rejected);
}

static void draw(progress *p)
{
    char line[LINE_MAX_COLUMNS + 64], bar[BAR_CELLS + 1], text[192];
    const double done = fraction_done(p);
    const int filled = (int)(done * BAR_CELLS);
    for (int i = 0; i < BAR_CELLS; i++) bar[i] = i < filled ? '=' : i == filled ? '>' : ' ';
    bar[BAR_CELLS] = '\0';
    describe(p, text, sizeof text);
    snprintf(line, sizeof line, "%s [%s] %3d%%  %s", p->name, bar, (int)(100 * done), text);
    const int columns = terminal_columns() - 1;  // a full line would wrap on some terminals
    fprintf(stderr, "\r%.*s\x1b[K", columns < LINE_MAX_COLUMNS ? columns : LINE_MAX_COLUMNS, line);
    fflush(stderr);
    p->on_screen = true;
    p->drawn_at = app_now();
}

void progress_step(progress *p)
{
    p->steps_into++;
    if (p->style == PROGRESS_BAR && p->any && app_now() - p->drawn_at > REDRAW_SECONDS) draw(p);
}

void progress_frame(progress *p, const tl_run_progress *now)
{
    p->last = *now;
    p->steps_into = 0;
    const bool first = !p->any, last = now->frame >= now->frames;
    p->any = true;
    if (p->style == PROGRESS_BAR && (first || last || app_now() - p->drawn_at > REDRAW_SECONDS)) draw(p);
    if (p->style != PROGRESS_LINES) return;
    const int percent = (int)(100 * fraction_done(p));
    if (!first && !last && percent < p->next_percent) return;
    p->next_percent = (percent / LINES_EVERY_PERCENT + 1) * LINES_EVERY_PERCENT;
    char text[192];
    describe(p, text, sizeof text);
    fprintf(stderr, "%s %3d%%  %s\n", p->name, percent, text);
}

void progress_clear(progress *p)
{
    if (p->on_screen) fputs("\r\x1b[K", stderr), fflush(stderr);
    p->on_screen = false;
}
