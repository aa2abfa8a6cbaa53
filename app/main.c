// app/main.c: the program: finds the command, runs it, makes sure that what it printed has arrived.

#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "app.h"

#define CODES_COMMON "  0  done\n  1  usage: unknown option or value out of range\n"

static const app_command commands[] = {
    {.name = "run",
     .summary = "simulate a scene into a folder of frames",
     .synopsis = "SCENE [--out DIR] [--frames N] [--threads N] [--set KEY=VALUE]... [--resume] [--quiet] [--json]",
     .about =
         "Reads the scene file (JSON with // comments, docs/scene.md; those of ARCSim as they are,\n"
         "docs/arcsim.md), steps it and writes into DIR:\n"
         "  frames/NNNNNN_CLOTH.obj    one mesh per frame and cloth, frame 0 is the start\n"
         "  obstacles/NNNNNN_NAME.obj  what the cloth collides with; frame 0 only if it stands still\n"
         "  stats.jsonl                one JSON object per frame: time, faces, iterations, strain, contact, energies\n"
         "  steps.csv                  of springs: triangles and seconds per stage of every step\n"
         "  scene.json                 the scene with every default filled in\n"
         "  checkpoint.bin             to go on from with --resume\n"
         "A checkpoint is written before the first frame, every 10 frames and every minute, so that a crash\n"
         "costs a minute of work at most. While it runs, run.lock keeps other runs out of the folder.\n"
         "Ctrl-C finishes the step, writes the checkpoint and prints the command that goes on; the frames\n"
         "then are the same, byte for byte, as without the break. A second Ctrl-C ends at once.",
     .examples = "  toile run scenes/sphere/scene.json\n"
                 "  toile run scenes/table/scene.json --out /tmp/table --set collisions.response=zones\n"
                 "  toile run scenes/flag/scene.json --out /tmp/flag --frames 50 --set fps=50",
     .codes = CODES_COMMON "  2  the scene or a file it names is invalid, or the folder cannot be used\n"
                           "  3  the simulation failed, the disk filled up, or it was interrupted (resume it)",
     .run = app_run},
    {.name = "resume",
     .summary = "go on with an interrupted run",
     .synopsis = "DIR [--frames N] [--threads N] [--quiet] [--json]",
     .about = "The same as 'toile run DIR/scene.json --out DIR --resume': takes the scene as it was\n"
              "saved with the run, and its last checkpoint.",
     .examples = "  toile resume out/flag\n"
                 "  toile resume out/flag --frames 500",
     .codes = CODES_COMMON "  2  the folder holds no run that could be resumed\n"
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
    {.name = "refine",
     .summary = "finer, smooth surfaces of finished frames that still touch nothing",
     .synopsis = "DIR|FILE.obj -o OUT [--scheme NAME] [--levels N] [--gap MM] [--crease-seams]",
     .about = "Subdivides every frame of a run (or one OBJ file) and writes it to OUT, with the obstacles, so that\n"
              "OUT can be drawn and checked like a run. After each level nodes go from the coarse surface to\n"
              "where the scheme puts them, as far as nothing is in the way: if the frames are free of\n"
              "intersections, so is the result. Nothing is fed back into the simulation.",
     .examples = "  toile refine out/dress -o out/dress-fine\n"
                 "  toile refine out/dress -o out/dress-fine --levels 3 --scheme loop --first 20 --last 40\n"
                 "  toile refine shirt.obj -o fine.obj --crease-seams",
     .codes = CODES_COMMON "  2  a file is missing or cannot be read, or OUT cannot be written",
     .run = app_refine},
    {.name = "sweep",
     .summary = "many runs from one specification, as a data set",
     .synopsis = "SPEC --out DIR [--jobs N] [--threads N] [--only A[:B]] [--retry] [--list] [--slurm] [--json]",
     .about = "Runs a scene over a grid, a list or random draws of any of its keys (docs/sweep.md). DIR gets\n"
              "  runs/NNNNNN/          a run's folder for each sample, with arrays.npz beside the frames\n"
              "  dataset.jsonl         one line per sample that is done: what was set, sizes, arrays\n"
              "  failures.tsv          one line per sample that failed, and why\n"
              "The same command goes on where it was stopped or killed: what is done is not done again, what was\n"
              "begun goes on from its checkpoint. The bytes do not depend on who ran which sample, or when.\n"
              "SPEC: {\"scene\": \"scene.json\", \"grid\": {\"cloths[0].material\": [\"silk\", \"denim\"]},\n"
              "       \"random\": {\"count\": 50, \"keys\": {\"obstacles[0].friction\": {\"uniform\": [0, 0.6]}}}}",
     .examples = "  toile sweep drapes.json --out out/drapes\n"
                 "  toile sweep drapes.json --out out/drapes --list | parallel -j 8\n"
                 "  toile sweep drapes.json --out out/drapes --slurm --slurm-options '--partition=short'",
     .codes = CODES_COMMON "  2  the specification is invalid, or another sweep is in the folder\n"
                           "  3  samples failed, or it was interrupted (the same command goes on)",
     .run = app_sweep},
    {.name = "export",
     .summary = "write the frames of a run for other programs: USD, glTF, PC2, MDD, PLY, OBJ",
     .synopsis = "DIR|FILE.toile -o FILE.usda|.toile|.glb|.pc2|.mdd|.ply|.obj [options]",
     .about = "USD: all cloths (and bodies) with time samples, meshes as they change, material coordinates as\n"
              "primvars:st, velocities. TOILE: a packed recording, any frame at once (docs/formats.md). GLB: the\n"
              "first frame, a morph target for each other frame, and a clip that goes through them. PC2 and MDD:\n"
              "positions of the nodes, in the order of the frames' OBJ files. These three need one mesh for all\n"
              "frames: --resample carries adaptive runs over to one, and says how well. docs/export.md",
     .examples = "  toile export out/flag -o flag.usda --bodies --attributes strain,contact\n"
                 "  toile export out/flag -o flag.glb --resample\n"
                 "  toile export out/dress -o dress/frame.ply --cloth dress --z-up --cm",
     .codes = CODES_COMMON "  2  DIR holds no such frames, their mesh changes, or FILE cannot be written",
     .run = app_export},
    {.name = "info",
     .summary = "describe a scene, fabric, pattern, mesh, checkpoint or run folder",
     .synopsis = "(FILE [--svg OUT.svg] | --kinds) [--json]",
     .about = "Says in a few lines what the file is and what it holds; the kind is found from its content.\n"
              "Of a sewing pattern (docs/patterns.md): panels, edges, seams with both lengths, darts, what is\n"
              "not sewn; --svg draws it. --kinds lists the kinds of every stage of a step (how meshes follow,\n"
              "how steps are solved, how contact is found and answered) and which of them go together.",
     .examples = "  toile info scenes/flag/scene.json\n"
                 "  toile info dress.json --svg dress.svg\n"
                 "  toile info out/flag/checkpoint.bin --json\n"
                 "  toile info --kinds",
     .codes = CODES_COMMON "  2  the file is missing, damaged or of no known kind",
     .run = app_info},
    {.name = "fabrics",
     .summary = "list the fabrics of the library, with pictures on request",
     .synopsis = "[--pictures DIR [NAME]...] [--json]",
     .about =
         "Name, weight, stiffness, how it feels and what it is for, of every fabric that a scene can name as\n"
         "\"material\". Stretch is tension per width and strain: 100 N/m give way by 1 % under 1 N/m; the bending\n"
         "length is how far a strip reaches before it sags. Your own fabrics are listed too if TOILE_DATA is\n"
         "a folder that has materials/NAME.json.",
     .examples = "  toile fabrics\n"
                 "  toile fabrics --pictures out/fabrics silk denim",
     .codes = CODES_COMMON "  2  a file of the library is invalid, or a picture cannot be written\n"
                           "  3  a simulation failed or was interrupted",
     .run = app_fabrics},
    {.name = "fabric",
     .summary = "put a fabric to the tests of a laboratory, as a report",
     .synopsis = "NAME|FILE [-o REPORT.html] [--quick] [--no-drape] [--threads N] [--json]",
     .about =
         "Simulates Cusick's drape test (on 3 meshes and with the warp in 8 directions), the cantilever and the heart\n"
         "loop of ASTM D1388, tension and shear, and puts them beside what the literature has for such a fabric\n"
         "(docs/fabrics.md). The report is one page with plots and pictures.",
     .examples = "  toile fabric denim -o denim.html\n"
                 "  toile fabric mine.json --quick -o mine.html",
     .codes = CODES_COMMON "  2  there is no such fabric, the file is invalid, or the report cannot be written\n"
                           "  3  a test failed, or it was interrupted",
     .run = app_fabric},
    {.name = "fit-fabric",
     .summary = "a fabric from measured values",
     .synopsis = "TESTS.json -o FABRIC.json [--threads N]",
     .about =
         "Finds the linear fabric that has the measured values (docs/fabrics.md): weight, overhangs of ASTM D1388,\n"
         "curves of tension and shear and, by simulated drapes, a drape coefficient.\n"
         "TESTS.json: {\"density\": 0.2, \"overhang_warp\": 0.044, \"overhang_weft\": 0.038,\n"
         "             \"tension_warp\": [[0.01, 55], [0.02, 112]], \"shear\": [[0.1, 6]], \"drape\": 0.62}",
     .examples = "  toile fit-fabric measured.json -o mine.json && toile fabric mine.json -o mine.html",
     .codes = CODES_COMMON "  2  the file is invalid, or the fabric cannot be written\n"
                           "  3  a simulated drape failed",
     .run = app_fit_fabric},
    {.name = "convert",
     .summary = "write a scene of ARCSim's as one of Toile's, or a pattern in another format",
     .synopsis = "OLD NEW [--set KEY=VALUE]... [--turn-seam N]... [--force] [--quiet] [--json]",
     .about = "Reads a scene file of ARCSim's (or one of Toile's) and writes it in Toile's format, with every\n"
              "default filled in, and its meshes into the folder NEW-meshes beside it. Both files give the\n"
              "same frames. Keys that have no effect here are named in warnings, one each: docs/arcsim.md.\n"
              "To run such a scene it need not be converted: every command reads it as it is.\n"
              "A sewing pattern (.json of Toile or GarmentCode, .svg, .dxf) is written by the ending of NEW:\n"
              ".json, _specification.json (GarmentCode), .svg or .dxf (docs/patterns.md).",
     .examples = "  toile convert tshirt_specification.json tshirt.dxf\n"
                 "  toile convert conf/sphere.json sphere.json\n"
                 "  toile convert conf/flag.json scenes/flag.json --set frames=100 --force",
     .codes = CODES_COMMON "  2  the scene or a file it names is invalid, or NEW.json is there already",
     .run = app_convert},
    {.name = "mesh",
     .summary = "fill the panels of a sewing pattern with triangles",
     .synopsis = "PATTERN -o OUT.obj [--method M] [--edge M | --cells UxV] [--panel NAME] [options]",
     .about =
         "Reads a pattern (docs/patterns.md) and writes its panels as OBJ: v where they start in space, vt on the\n"
         "cloth in metres, a group per panel, and a loose edge l for each pair of vertices that a seam brings\n"
         "together. Both sides of a seam get as many points (grids: each vertex goes to the nearest across).",
     .examples = "  toile mesh dress.json --edge 0.01 -o dress.obj --svg dress.svg\n"
                 "  toile mesh skirt.json --method equal-area --cells 20x30 --panel front -o front.obj",
     .codes = CODES_COMMON "  2  the pattern is invalid, or cannot be filled so; or the file cannot be written",
     .run = app_mesh},
    {.name = "drape",
     .summary = "dress a body in sewing patterns, and let it move",
     .synopsis = "PATTERN...|FOLDER --body FILE [--material NAME] [--motion CLIP] [--quality Q] -o DIR [options]",
     .about =
         "Reads patterns (docs/patterns.md) placed around a body (docs/bodies.md), sews them up around it, lets the\n"
         "garment come to rest and, with --motion, follow the body. Several patterns are worn together, the innermost\n"
         "first. A folder of patterns is draped one by one, each into DIR/NAME; one that fails does not stop the "
         "rest.\n"
         "DIR is the folder of a run (scene.json, frames/, ..) with NAME.obj, the garment at rest, and drape.json.\n"
         "Interrupted, the same command goes on where it stopped, with the same bytes. docs/drape.md",
     .examples = "  toile drape tshirt.json --body woman.glb -o out/tshirt\n"
                 "  toile drape trousers.json shirt.json --body woman.glb --motion walk -o out/walk\n"
                 "  toile drape patterns/ --body woman.glb --quality draft -o out/all",
     .codes =
         CODES_COMMON "  2  a file is invalid, or the folder cannot be used\n"
                      "  3  a garment could not be draped, or it was interrupted\n"
                      "  4  draped, but not as it should be: strained, not at rest, or cloth goes through something",
     .run = app_drape},
    {.name = "manual",
     .summary = "the manual page, or completion for a shell",
     .synopsis = "[man|bash|zsh]",
     .about =
         "Prints the manual page (troff) or a completion script, made from the texts of --help. Installing puts them\n"
         "where man and the shells look.",
     .examples = "  toile manual | man -l -\n"
                 "  toile manual bash > ~/.local/share/bash-completion/completions/toile",
     .codes = CODES_COMMON,
     .run = app_manual},
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
              "  fidelity  adaptive meshes against fixed fine ones, by shape ('toile bench fidelity --help')\n"
              "  grids     time of planar grids against their size, every method ('toile bench grids --help')\n"
              "  kimmerle  the tables of Kimmerle 2005 beside ours ('toile bench kimmerle --help')\n"
              "  scenes    two builds in turn on the same scene files ('toile bench scenes --help')\n"
              "  sqrt3     the sqrt(3) hierarchy beside its paper ('toile bench sqrt3 --help')\n"
              "  adaptivity  kinds of adaptive meshes at one error ('toile bench adaptivity --help')\n"
              "  realtime  springs on edge trees beside their thesis ('toile bench realtime --help')\n"
              "  drape     whole clips of a body in garments, from the patterns on ('toile bench drape --help')",
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
    {.name = "view",
     .summary = "a window: plays runs, simulates scenes live, shows patterns",
     .synopsis = "[DIR|SCENE|PATTERN|MESH] [--body FILE] [--live] [--paused] [--mode NAME] [--set KEY=VALUE]...",
     .about = "Without a file: a gallery of six scenes. A run folder is played, a scene is simulated while you\n"
              "watch: pull the cloth with the mouse, turn on the wind, change fabric and mesh. A pattern is laid\n"
              "out flat; point at a seam to see what it joins; with --body it is sewn around it, beside the\n"
              "panels, which can be moved and sewn again. Files can be dropped on the window. Press ? for all\n"
              "keys. Needs a display; without one, use 'toile render' or xvfb-run.",
     .examples = "  toile view\n"
                 "  toile view out/flag\n"
                 "  toile view scenes/sphere/scene.json\n"
                 "  toile view dress.json --size 1600x1000",
     .codes = CODES_COMMON "  2  the file or folder is invalid or missing\n"
                           "  3  there is no display, or no OpenGL 3.3",
     .run = app_view},
    {.name = "serve",
     .summary = "hand the page that `make web` builds to a browser on this machine",
     .synopsis = "[DIR] [--port N] [--verbose]",
     .about = "Prints an address to open in a browser; Ctrl-C ends it. Without DIR it is the page that runs the\n"
              "simulator in the browser (docs/web.md). Listens on 127.0.0.1 alone, hands out what is in the\n"
              "folder and nothing else: no hidden files, no way up, no links that lead outside.",
     .examples = "  toile serve\n"
                 "  toile serve web/dist --port 9000",
     .codes = CODES_COMMON "  2  there is no such folder, the page is not built, or the port is taken",
     .run = app_serve},
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

const app_command *app_commands(int *count)
{
    *count = COMMAND_COUNT;
    return commands;
}

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
    fprintf(to, "toile %s: adaptive cloth simulation\n\nusage: toile COMMAND [options]\n\ncommands:\n", tl_version());
    for (int i = 0; i < COMMAND_COUNT; i++) fprintf(to, "  %-8s  %s\n", commands[i].name, commands[i].summary);
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

// What a command is run with, for a thread of its own.
typedef struct call {
    int argc, code;
    char **argv;
} call;

static void *dispatch_call(void *arg)
{
    call *c = arg;
    c->code = dispatch(c->argc, c->argv);
    return NULL;
}

// The tree of contact alone wants 80 kB of stack. Where the system grants less than is good (ulimit -s, small
// machines), the command gets a thread with a stack of its own.
static int dispatch_with_room(int argc, char **argv)
{
    enum { ENOUGH = 1 << 20 };
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= ENOUGH)
        return dispatch(argc, argv);
    call c = {argc, APP_FAILED, argv};
    pthread_attr_t attr;
    pthread_t thread;
    const bool sized = pthread_attr_init(&attr) == 0 && pthread_attr_setstacksize(&attr, 2 * ENOUGH) == 0;
    if (!sized || pthread_create(&thread, &attr, dispatch_call, &c) != 0) {
        app_say("the stack is limited to %lld kB, at least 256 are needed (ulimit -s)",
                (long long)limit.rlim_cur / 1024);
        return APP_FAILED;
    }
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attr);
    return c.code;
}

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN);  // a reader that went away shows as a write error, below
    signal(SIGXFSZ, SIG_IGN);  // a file size limit shows as a write error, handled like a full disk
    app_program = argc > 0 ? argv[0] : "toile";
    find_data();
    int code = dispatch_with_room(argc, argv);
    const bool lost = fflush(stdout) != 0 || ferror(stdout);
    if (lost && !reader_gone()) {
        app_say("the output could not be written");
        if (code == APP_OK) code = APP_FAILED;
    }
    return code;
}
