// app/main.c: the program: finds the command, runs it, makes sure that what it printed has arrived.

#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app.h"

#define CODES_COMMON "  0  done\n  1  usage: unknown option or value out of range\n"

static const app_command commands[] = {
    {.name = "run",
     .summary = "simulate a scene into a folder of frames",
     .synopsis =
         "SCENE [--out DIR] [--frames N] [--threads N] [--set KEY=VALUE]... [--resume] [--quiet] [--json]",
     .about =
         "Reads the scene file (JSON with // comments, docs/scene.md; those of ARCSim as they are,\n"
         "docs/arcsim.md), steps it and writes into DIR:\n"
         "  frames/NNNNNN_CLOTH.obj    one mesh per frame and cloth, frame 0 is the start\n"
         "  obstacles/NNNNNN_NAME.obj  what the cloth collides with; frame 0 only if it stands still\n"
         "  stats.jsonl                one JSON object per frame: time, faces, iterations, strain, contact, energies\n"
         "  scene.json                 the scene with every default filled in\n"
         "  checkpoint.bin             to go on from with --resume\n"
         "Ctrl-C finishes the step, writes the checkpoint and prints the command that goes on; the frames\n"
         "then are the same, byte for byte, as without the break. A second Ctrl-C ends at once.",
     .examples = "  toile run scenes/sphere/scene.json\n"
                 "  toile run scenes/table/scene.json --out /tmp/table --set collisions.response=zones\n"
                 "  toile run scenes/flag/scene.json --out /tmp/flag --frames 50 --set fps=50",
     .codes =
         CODES_COMMON "  2  the scene or a file it names is invalid, or the folder cannot be used\n"
                      "  3  the simulation failed, the disk filled up, or it was interrupted (resume it)",
     .run = app_run},
    {.name = "resume",
     .summary = "go on with an interrupted run",
     .synopsis = "DIR [--frames N] [--threads N] [--quiet] [--json]",
     .about = "The same as 'toile run DIR/scene.json --out DIR --resume': takes the scene as it was\n"
              "saved with the run, and its last checkpoint.",
     .examples = "  toile resume out/flag\n"
                 "  toile resume out/flag --frames 500",
     .codes =
         CODES_COMMON "  2  the folder holds no run that could be resumed\n"
                      "  3  the simulation failed, the disk filled up, or it was interrupted (resume it)",
     .run = app_resume},
    {.name = "check",
     .summary = "look for faults in the frames of a run",
     .synopsis = "DIR [--json [FILE]] [--strain LIMIT] [--overlay OUT] [--threads N] [--quiet]",
     .about = "Reads every frame of DIR: is it there, readable, finite, without degenerate faces, without\n"
              "faces inverted in material space, and does no cloth pass through itself, another cloth or an\n"
              "obstacle? Crossings are found by exact arithmetic; touching counts. Changes nothing in DIR.",
     .examples = "  toile check out/hanging\n"
                 "  toile check out/flag --strain 0.1 --json report.json --overlay out/flag/faults",
     .codes = "  0  nothing found\n  1  usage: unknown option or value out of range\n"
              "  2  DIR is not the folder of a run\n"
              "  4  something was found",
     .run = app_check},
    {.name = "info",
     .summary = "describe a scene, fabric, mesh, checkpoint or run folder",
     .synopsis = "FILE [--json]",
     .about = "Says in a few lines what the file is and what it holds; the kind is found from its content.",
     .examples = "  toile info scenes/flag/scene.json\n"
                 "  toile info out/flag/checkpoint.bin --json",
     .codes = CODES_COMMON "  2  the file is missing, damaged or of no known kind",
     .run = app_info},
    {.name = "convert",
     .summary = "write a scene of ARCSim's as one of Toile's",
     .synopsis = "OLD.json NEW.json [--set KEY=VALUE]... [--force] [--quiet] [--json]",
     .about = "Reads a scene file of ARCSim's (or one of Toile's) and writes it in Toile's format, with every\n"
              "default filled in, and its meshes into the folder NEW-meshes beside it. Both files give the\n"
              "same frames. Keys that have no effect here are named in warnings, one each: docs/arcsim.md.\n"
              "To run such a scene it need not be converted: every command reads it as it is.",
     .examples = "  toile convert conf/sphere.json sphere.json\n"
                 "  toile convert conf/flag.json scenes/flag.json --set frames=100 --force",
     .codes = CODES_COMMON "  2  the scene or a file it names is invalid, or NEW.json is there already",
     .run = app_convert},
    {.name = "bench",
     .summary = "measure speed and memory on this machine",
     .synopsis = "[NAME] [options]",
     .about = "Without NAME it lists the benchmarks there are.\n"
              "  dynamics  a hanging sheet and a flag at several sizes: time per step and stage,\n"
              "            iterations, memory, growth of the cost with size, gain from threads, state hash\n"
              "  ccd       continuous collision detection against queries of known truth: contacts missed,\n"
              "            false alarms, late times, time per query; options --queries, --passes, --json\n"
              "  stress    the contact scenes from many starts, looked at after every step: crossings,\n"
              "            failed steps, numbers that are not finite, rest ('toile bench stress --help')\n"
              "  contact   share of contact in a step and the counts behind it, growth with size on a\n"
              "            stack of sheets ('toile bench contact --help')\n"
              "  paper     the examples of Narain et al. 2012 beside their Table 1 ('toile bench paper --help')\n"
              "  fidelity  adaptive meshes against fixed fine ones, by shape ('toile bench fidelity --help')",
     .examples = "  toile bench dynamics\n"
                 "  toile bench ccd --queries tests/data/ccd\n"
                 "  toile bench stress --runs 1\n"
                 "  toile bench dynamics --sizes 2k,10k --steps 50 --threads 1 --scenes flag --linear pcg",
     .codes = CODES_COMMON "  2  the results file cannot be written, a file of queries is missing or wrong\n"
                           "  3  a step failed\n"
                           "  4  two thread counts gave different states; a contact was missed or reported late;\n"
                           "     a stress run broke a bar; the cost of contact grows too fast",
     .run = app_bench},
    {.name = "render",
     .summary = "pictures and films of a run, a scene or a mesh",
     .synopsis = "DIR|SCENE|FILE.obj -o FILE.png|.mp4|.gif [options]",
     .about = "Draws the frames of a run (or the start of a scene, or any OBJ) without a display. Films need\n"
              "the ffmpeg program; without it numbered PNG files are written. The camera sees all of the\n"
              "animation unless the scene or --camera says otherwise. docs/rendering.md shows every mode.",
     .examples = "  toile render out/flag -o flag.mp4\n"
                 "  toile render out/flag -o strain.png --frames 50 --mode strain --size 1920x1080\n"
                 "  toile render out/flag -o sheet.png --sheet 12\n"
                 "  toile render shirt.obj -o shirt.gif --turntable",
     .codes = CODES_COMMON "  2  nothing to draw there, or the file cannot be written\n  3  interrupted",
     .run = app_render},
    {.name = "plot",
     .summary = "diagrams of a run: faces, time per stage, energies, strain",
     .synopsis = "DIR -o FILE.svg|.png [options]",
     .about = "Reads DIR/stats.jsonl and draws how the run went over simulated time.",
     .examples = "  toile plot out/flag -o flag.svg\n"
                 "  toile plot out/flag -o flag.png --scale 3",
     .codes = CODES_COMMON "  2  no statistics there, or the file cannot be written",
     .run = app_plot},
};
enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

// Names from earlier cloth programs that our readers may have in their scripts.
static const struct {
    const char *alias, *name;
} aliases[] = {{"simulate", "run"}, {"simulateoffline", "run"}, {"simulate-offline", "run"}};

static const app_command *find_command(const char *name)
{
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (strcmp(name, aliases[i].alias) == 0) name = aliases[i].name;
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(name, commands[i].name) == 0) return &commands[i];
    return NULL;
}

static void print_overview(FILE *to)
{
    fprintf(to, "toile %s: adaptive cloth simulation\n\nusage: toile COMMAND [options]\n\ncommands:\n",
            tl_version());
    for (int i = 0; i < COMMAND_COUNT; i++)
        fprintf(to, "  %-8s  %s\n", commands[i].name, commands[i].summary);
    fputs("\n"
          "  toile COMMAND --help   explains a command, its options, two examples, its exit codes\n"
          "  toile --version        prints the version\n"
          "\nexamples:\n"
          "  toile run scenes/hanging/scene.json     simulate; frames go to out/hanging/frames\n"
          "  toile check out/hanging                 look for faults in them\n"
          "\nexit codes: 0 ok, 1 usage, 2 invalid input, 3 simulation failed or interrupted,\n"
          "            4 a check found something\n",
          to);
}

static int unknown_command(const char *word)
{
    const char *names[COMMAND_COUNT + 3] = {"help", "--help", "--version"};
    for (int i = 0; i < COMMAND_COUNT; i++) names[i + 3] = commands[i].name;
    const char *near = app_nearest(word, names, COMMAND_COUNT + 3);
    const char *kind = word[0] == '-' ? "option" : "command";
    if (near)
        app_say("unknown %s '%s', did you mean '%s'?", kind, word, near);
    else
        app_say("unknown %s '%s'", kind, word);
    fputs("'toile --help' lists what there is.\n", stderr);
    return APP_USAGE;
}

static int dispatch(int argc, char **argv)
{
    if (argc < 2) {
        print_overview(stderr);
        return APP_USAGE;
    }
    const char *word = argv[1];
    const bool help = strcmp(word, "help") == 0 || strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
    if (help && argc == 2) {
        print_overview(stdout);
        return APP_OK;
    }
    if (help) {  // "toile help run" is "toile run --help"
        const app_command *command = find_command(argv[2]);
        if (!command) return unknown_command(argv[2]);
        char *ask[] = {argv[2], "--help", NULL};
        return command->run(command, 2, ask);
    }
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        printf("toile %s\n", tl_version());
        return APP_OK;
    }
    const app_command *command = find_command(word);
    if (!command) return unknown_command(word);
    return command->run(command, argc - 1, argv + 1);
}

// Whether whoever read our stdout has gone, as in `toile info x | head -1`.
static bool reader_gone(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&out, 1, 0) > 0 && (out.revents & POLLERR);
}

// An installed program has its fabrics in ../share/toile next to its own folder; tells the library where that is.
static void find_data(void)
{
    char path[PATH_MAX], data[PATH_MAX + 32];
    if (getenv("TOILE_DATA")) return;  // the user knows better
    const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    if (n <= 0) return;
    path[n] = '\0';
    char *slash = strrchr(path, '/');
    if (!slash) return;
    *slash = '\0';
    snprintf(data, sizeof data, "%s/../share/toile/materials", path);
    if (access(data, R_OK) != 0) return;
    *strrchr(data, '/') = '\0';
    setenv("TOILE_DATA", data, 1);
}

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN);  // a reader that went away shows as a write error, below
    signal(SIGXFSZ, SIG_IGN);  // a file size limit shows as a write error, handled like a full disk
    app_program = argc > 0 ? argv[0] : "toile";
    find_data();
    int code = dispatch(argc, argv);
    const bool lost = fflush(stdout) != 0 || ferror(stdout);
    if (lost && !reader_gone()) {
        app_say("the output could not be written");
        if (code == APP_OK) code = APP_FAILED;
    }
    return code;
}
