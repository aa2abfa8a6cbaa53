// app/cmd_serve.c: `toile serve`: hands the page's files to a browser on this machine, and to nobody else.
//
// One thread polls all connections; each answers one request and is closed. Threads of WebAssembly want a page that is
// isolated from others, hence the Cross-Origin headers.

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "app.h"
#include "http.h"

enum { CLIENTS_MAX = 64, CHUNK = 1 << 16, PORT_DEFAULT = 8010, PORTS_TRIED = 20 };
#define PATIENCE 20.0  // [s] that a connection may be silent

typedef struct client {
    int fd, file;       // -1: none
    double deadline;    // of silence [s]
    size_t have, sent;  // bytes read of the request; bytes of `buffer` written of the answer
    size_t filled;      // of `buffer`, once answering
    int64_t left;       // of the file
    bool answering;
    char *buffer;  // CHUNK bytes
} client;

typedef struct server {
    http_folder folder;
    client clients[CLIENTS_MAX];
    int listener;
    bool verbose;
} server;

static void hang_up(client *c)
{
    if (c->fd >= 0) close(c->fd);
    if (c->file >= 0) close(c->file);
    free(c->buffer);
    *c = (client){.fd = -1, .file = -1};
}

// The head of the answer, and for errors a sentence.
static void answer(server *s, client *c)
{
    http_request request = {0};
    int64_t size = 0;
    const char *type = "text/plain; charset=utf-8";
    int status = http_parse(c->buffer, c->have, &request);
    const bool parsed = status == 200;
    if (parsed) status = http_folder_get(&s->folder, request.path, &c->file, &size, &type);
    if (status != 200) c->file = -1, type = "text/plain; charset=utf-8";
    if (s->verbose && parsed) {
        printf("%d ", status);
        app_json_text(stdout, request.path);
        printf("\n");
        fflush(stdout);
    }
    char text[128] = "";
    if (status != 200) size = snprintf(text, sizeof text, "%s\n", http_status_line(status));
    int n = snprintf(c->buffer, CHUNK,
                     "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %lld\r\nConnection: close\r\n"
                     "Cross-Origin-Opener-Policy: same-origin\r\nCross-Origin-Embedder-Policy: require-corp\r\n"
                     "Cross-Origin-Resource-Policy: same-origin\r\nX-Content-Type-Options: nosniff\r\n"
                     "Referrer-Policy: no-referrer\r\nCache-Control: no-cache\r\n",
                     http_status_line(status), type, (long long)size);
    if (status == 301) {  // encoded again: a path may hold anything but control characters
        n += snprintf(c->buffer + n, (size_t)(CHUNK - n), "Location: ");
        for (const char *p = request.path; *p; p++) n += sprintf(c->buffer + n, *p == '/' ? "/" : "%%%02x", *p & 255);
        n += snprintf(c->buffer + n, (size_t)(CHUNK - n), "/\r\n");
    }
    if (status == 405) n += snprintf(c->buffer + n, (size_t)(CHUNK - n), "Allow: GET, HEAD\r\n");
    n += snprintf(c->buffer + n, (size_t)(CHUNK - n), "\r\n%s", request.head ? "" : text);
    c->left = status == 200 && !request.head ? size : 0;
    c->filled = (size_t)n, c->sent = 0, c->answering = true;
}

// Reads what is there; true: the connection goes on.
static bool receive(server *s, client *c)
{
    const ssize_t n = recv(c->fd, c->buffer + c->have, HTTP_REQUEST_MAX - c->have, 0);
    if (n < 0) return errno == EAGAIN || errno == EINTR;
    if (n == 0) return false;
    c->have += (size_t)n;
    http_request unused;
    if (http_parse(c->buffer, c->have, &unused) != 0) answer(s, c);
    return true;
}

// Sends what the socket takes; true: there is more.
static bool transmit(client *c)
{
    if (c->sent == c->filled) {
        const size_t want = c->left < CHUNK ? (size_t)c->left : CHUNK;
        const ssize_t n = want ? read(c->file, c->buffer, want) : 0;
        if (n <= 0) {  // done, or the file has become shorter
            shutdown(c->fd, SHUT_WR);
            return false;
        }
        c->filled = (size_t)n, c->sent = 0, c->left -= n;
    }
    const ssize_t n = send(c->fd, c->buffer + c->sent, c->filled - c->sent, MSG_NOSIGNAL);
    if (n < 0) return errno == EAGAIN || errno == EINTR;
    c->sent += (size_t)n;
    return true;
}

static void take_in(server *s)
{
    const int fd = accept4(s->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return;
    for (int i = 0; i < CLIENTS_MAX; i++) {
        client *c = &s->clients[i];
        if (c->fd >= 0) continue;
        c->buffer = malloc(CHUNK);
        if (!c->buffer) break;
        c->fd = fd, c->deadline = app_now() + PATIENCE;
        return;
    }
    close(fd);
}

static void serve_until_stopped(server *s)
{
    while (!app_stopping()) {
        struct pollfd waits[CLIENTS_MAX + 1];
        client *whose[CLIENTS_MAX + 1];
        nfds_t n = 0;
        const double now = app_now();
        for (int i = 0; i < CLIENTS_MAX; i++) {
            client *c = &s->clients[i];
            if (c->fd >= 0 && now > c->deadline) hang_up(c);
            if (c->fd < 0) continue;
            waits[n] = (struct pollfd){.fd = c->fd, .events = c->answering ? POLLOUT : POLLIN};
            whose[n++] = c;
        }
        if (n < CLIENTS_MAX) waits[n] = (struct pollfd){.fd = s->listener, .events = POLLIN}, whose[n++] = NULL;
        if (poll(waits, n, 250) <= 0) continue;
        for (nfds_t i = 0; i < n; i++) {
            client *c = whose[i];
            if (!waits[i].revents) continue;
            if (!c) {
                take_in(s);
                continue;
            }
            c->deadline = now + PATIENCE;
            const bool broken = (waits[i].revents & (POLLERR | POLLNVAL)) != 0;
            if (broken || !(c->answering ? transmit(c) : receive(s, c))) hang_up(c);
        }
    }
}

// Listens on loopback; with `any`, on the next free port after a taken one. Returns the port, 0 on failure (errno).
static int32_t listen_on(server *s, int32_t port, bool any)
{
    for (int32_t i = 0; i < (any ? PORTS_TRIED : 1); i++) {
        s->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (s->listener < 0) return 0;
        const int yes = 1;
        setsockopt(s->listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
        struct sockaddr_in at = {
            .sin_family = AF_INET, .sin_port = htons((uint16_t)(port + i)), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        socklen_t size = sizeof at;
        if (bind(s->listener, (struct sockaddr *)&at, sizeof at) == 0 && listen(s->listener, 64) == 0 &&
            getsockname(s->listener, (struct sockaddr *)&at, &size) == 0)
            return ntohs(at.sin_port);
        const int why = errno;
        close(s->listener);
        errno = why;
        if (why != EADDRINUSE) return 0;
    }
    return 0;
}

// The page: installed next to the program, or as `make web` leaves it.
static const char *find_page(char *path, size_t size)
{
    const char *data = getenv("TOILE_DATA");
    const char *const folders[] = {data ? data : TL_DATA_DIR, TL_DATA_DIR};
    for (size_t i = 0; i < 2; i++)
        for (int built = 0; built < 2; built++) {
            snprintf(path, size, "%s/%s/index.html", folders[i], built ? "web/dist" : "page");
            if (access(path, R_OK) != 0) continue;
            *strrchr(path, '/') = '\0';
            return path;
        }
    return NULL;
}

static int serve(const app_command *self, int argc, char **argv, app_list *words)
{
    int32_t port = -1;
    bool verbose = false;
    const app_option options[] = {
        {"port", 'p', APP_INT, &port, 0, 65535, "N", "0: any that is free. Default 8010, or the next free one"},
        {"verbose", 'v', APP_FLAG, &verbose, 0, 0, NULL, "a line for every file asked for"},
    };
    int code;
    if (!app_parse(self, options, sizeof options / sizeof *options, argc, argv, words, &code)) return code;
    if (words->count > 1) return app_usage(self, "give one folder, or none for the page itself");
    tl_error err = {.status = TL_BAD_INPUT};
    char path[PATH_MAX + 32];
    const char *folder = words->count ? words->item[0] : find_page(path, sizeof path);
    server *s = calloc(1, sizeof *s);
    if (!s) return APP_FAILED;
    for (int i = 0; i < CLIENTS_MAX; i++) s->clients[i] = (client){.fd = -1, .file = -1};
    s->verbose = verbose, s->folder.fd = s->listener = -1;
    int32_t got = 0;
    if (!folder)
        snprintf(err.message, sizeof err.message, "the page is not built: `make web` builds it at web/dist");
    else if (!http_folder_open(folder, &s->folder))
        snprintf(err.message, sizeof err.message, "%.200s: %.100s; give the folder to serve", folder, strerror(errno));
    else if ((got = listen_on(s, port < 0 ? PORT_DEFAULT : port, port < 0)) == 0)
        snprintf(err.message, sizeof err.message, "port %d: %.100s; --port 0 takes any that is free",
                 port < 0 ? PORT_DEFAULT : port, strerror(errno));
    code = APP_OK;
    if (got == 0) {
        code = app_fail(self, false, APP_INPUT, &err);
    } else {
        app_stop_on_signals(true);
        printf("%s\nhttp://127.0.0.1:%d/\n", s->folder.real, got);
        if (isatty(STDOUT_FILENO)) printf("Open that in a browser on this machine; Ctrl-C ends it.\n");
        fflush(stdout);
        serve_until_stopped(s);
        for (int i = 0; i < CLIENTS_MAX; i++) hang_up(&s->clients[i]);
        close(s->listener);
    }
    if (s->folder.fd >= 0) close(s->folder.fd);
    free(s);
    return code;
}

int app_serve(const app_command *self, int argc, char **argv) { return app_with_words(self, argc, argv, serve); }
