// bench/measure.c: clock, memory, medians, growth, JSON, grids of triangles.

#include "measure.h"

#include <errno.h>
#include <malloc.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define UNKNOWN ((double)NAN)  // not measured

static double read_clock(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double bench_now(void) { return read_clock(CLOCK_MONOTONIC); }
double bench_cpu(void) { return read_clock(CLOCK_PROCESS_CPUTIME_ID); }

// --- memory of the process, as Linux counts it ------------------------------------------------------------

static double proc_status_bytes(const char *key)
{
    FILE *file = fopen("/proc/self/status", "r");
    if (!file) return UNKNOWN;
    char line[256];
    double bytes = UNKNOWN;
    while (fgets(line, sizeof line, file))
        if (strncmp(line, key, strlen(key)) == 0) bytes = 1024 * strtod(line + strlen(key), NULL);
    fclose(file);
    return bytes;
}

// Forgets the peak so far ("5" resets VmHWM, proc(5)); returns what is in use.
double bench_rss_mark(void)
{
    malloc_trim(0);  // give back what earlier cases freed, or they hide the growth of this one
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (!file) return UNKNOWN;
    const bool ok = fputs("5", file) >= 0;
    return fclose(file) == 0 && ok ? proc_status_bytes("VmRSS:") : UNKNOWN;
}

double bench_rss_growth(double mark) { return proc_status_bytes("VmHWM:") - mark; }

void bench_machine_name(char *name, size_t size)
{
    char model[128] = "unknown";
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[512];
    while (file && fgets(line, sizeof line, file)) {
        const char *value = strncmp(line, "model name", 10) == 0 ? strchr(line, ':') : NULL;
        if (!value) continue;
        snprintf(model, sizeof model, "%s", value + 1);
        break;
    }
    if (file) fclose(file);
    size_t n = 0;
    for (const char *c = model; *c && n + 8 < size; c++) {
        const char lower = *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c;
        const bool keep = (lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9');
        if (keep)
            name[n++] = lower;
        else if (n > 0 && name[n - 1] != '-')
            name[n++] = '-';
    }
    while (n > 0 && name[n - 1] == '-') n--;
    snprintf(name + n, size - n, "-x%ld", sysconf(_SC_NPROCESSORS_ONLN));
}

// --- figures ----------------------------------------------------------------------------------------------

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(double *values, int32_t count)
{
    qsort(values, (size_t)count, sizeof *values, by_value);
    return count % 2 ? values[count / 2] : 0.5 * (values[count / 2 - 1] + values[count / 2]);
}

double bench_exponent(const double *x, const double *y, int32_t count)
{
    double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (int32_t i = 0; i < count; i++) {
        const double a = log(x[i]), b = log(y[i]);
        n += 1, sx += a, sy += b, sxx += a * a, sxy += a * b;
    }
    const double spread = n * sxx - sx * sx;
    return spread > 0 ? (n * sxy - sx * sy) / spread : UNKNOWN;
}

// splitmix64: Steele, Lea & Flood 2014
double bench_draw(int32_t seed, int32_t attempt, int32_t cloth, int32_t which)
{
    uint64_t z = ((uint64_t)(uint32_t)seed << 32 | (uint64_t)(uint32_t)attempt << 16 | (uint64_t)(uint32_t)cloth << 4 |
                  (uint64_t)(uint32_t)which) *
                     0x9e3779b97f4a7c15u +
                 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-52 - 1;
}

void bench_json_number(FILE *out, const char *key, double value)
{
    if (isfinite(value))
        fprintf(out, ", \"%s\": %.9g", key, value);
    else
        fprintf(out, ", \"%s\": null", key);
}

void bench_json_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (const char *c = text; *c; c++)
        if (*c == '"' || *c == '\\')
            fprintf(out, "\\%c", *c);
        else
            fputc((unsigned char)*c < 0x20 ? ' ' : *c, out);
    fputc('"', out);
}

// --- grids ------------------------------------------------------------------------------------------------

void bench_grid_free(bench_grid *g)
{
    free(g->pos);
    free(g->uv);
    free(g->face);
    *g = (bench_grid){0};
}

int64_t bench_count_faces(const tl_sim *sim)
{
    int64_t faces = 0;
    for (int32_t c = 0; c < tl_sim_cloth_count(sim); c++) {
        tl_cloth_view view;
        if (tl_sim_cloth_view(sim, tl_sim_cloth(sim, c), &view) == TL_OK) faces += view.face_count;
    }
    return faces;
}

FILE *bench_csv_open(const char *path, const char *head)
{
    FILE *file = fopen(path, "a");
    if (!file) return NULL;
    fseek(file, 0, SEEK_END);
    if (ftell(file) == 0) fputs(head, file);
    return file;
}

tl_status bench_csv_close(FILE *file, const char *path, tl_error *err)
{
    if (file && fclose(file) == 0) return TL_OK;
    err->status = TL_IO;
    snprintf(err->message, sizeof err->message, "%.800s: cannot be written: %s", path, strerror(errno));
    return TL_IO;
}

void bench_today(char *date, size_t size)
{
    const time_t t = time(NULL);
    strftime(date, size, "%Y-%m-%d", gmtime(&t));
}

// About `faces` triangles over width x height, cells near square. World positions are the caller's.
bool bench_grid_make(double width, double height, int32_t faces, bench_grid *g)
{
    *g = (bench_grid){.width = width, .height = height};
    g->nx = (int32_t)lround(sqrt(0.5 * faces * width / height));
    g->nx = g->nx < 1 ? 1 : g->nx;
    g->ny = (int32_t)lround(0.5 * faces / g->nx);
    g->ny = g->ny < 1 ? 1 : g->ny;
    g->node_count = (g->nx + 1) * (g->ny + 1);
    g->face_count = 2 * g->nx * g->ny;
    g->pos = calloc((size_t)g->node_count, sizeof *g->pos);
    g->uv = calloc((size_t)g->node_count, sizeof *g->uv);
    g->face = calloc((size_t)g->face_count, sizeof *g->face);
    if (!g->pos || !g->uv || !g->face) {
        bench_grid_free(g);
        return false;
    }
    for (int32_t j = 0, v = 0; j <= g->ny; j++)
        for (int32_t i = 0; i <= g->nx; i++, v++) g->uv[v] = (tl_vec2){width * i / g->nx, height * j / g->ny};
    for (int32_t j = 0, t = 0; j < g->ny; j++)
        for (int32_t i = 0; i < g->nx; i++, t += 2) {
            const int32_t a = j * (g->nx + 1) + i, b = a + 1, c = b + g->nx + 1, d = a + g->nx + 1;
            if ((i + j) % 2 == 0) {  // diagonal a-c, then b-d in the neighbours
                g->face[t][0] = a, g->face[t][1] = b, g->face[t][2] = c;
                g->face[t + 1][0] = a, g->face[t + 1][1] = c, g->face[t + 1][2] = d;
            } else {
                g->face[t][0] = a, g->face[t][1] = b, g->face[t][2] = d;
                g->face[t + 1][0] = b, g->face[t + 1][1] = c, g->face[t + 1][2] = d;
            }
        }
    return true;
}
