// viewer/live_impl.h: the inside of a view_live, for the files that make it up: live.c runs the thread, live_hand.c
// does what the pointer wants, live_change.c what is chosen from the panel.
#pragma once
#include <pthread.h>

#include "live.h"
#include "toile/body.h"
#include "toile/live.h"
#include "toile/scene.h"
#include "toile/sewing.h"

enum { MAX_PINS = 64, MAX_SETS = 40, SET_LENGTH = 2048 };

typedef enum grab_state { FREE, ASKED, HELD } grab_state;

typedef struct view_pin {
    tl_handle_id handle;
    tl_vec3 base, at;  // of the point that was pulled: where it was then, and where it is held
} view_pin;

struct view_live {
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    // the thread's own
    int32_t threads;
    char path[1024], sets[MAX_SETS][SET_LENGTH];
    int32_t set_count;
    struct view_live_sew sew;
    tl_pattern *pattern;
    tl_sewing *sewing;
    tl_scene *scene;  // while it sews that of the bodies
    tl_sim *sim;
    tl_show *back;
    tl_handle_id held;
    view_pin pins[MAX_PINS];
    int32_t taken;              // the pin that the pointer has, -1: none
    tl_body_id carried;         // in place of `held`
    tl_vec3 at;                 // how far it has come [m]
    tl_body_id mine[MAX_PINS];  // bodies that were carried before
    int32_t mine_count;
    // shared, under the mutex
    tl_show *front;
    const tl_show_surface *surfaces;
    int32_t surface_count;
    uint64_t version;
    bool quit, paused, once, wind_changed, dropped, pinned, unpin, other_fabric, other_remeshing;
    tl_vec3 wind;
    char fabric[1024], fabric_name[64];  // file and name; "": the scene's own
    int32_t remeshing;                   // kind, -1: the scene's own
    char refused[1024];                  // why the last change was, "": it was not
    grab_state grab;
    tl_vec3 origin, direction, grabbed, target;
    view_live_state state;
};

/// Shows the state of a simulation.
void view_live_publish(view_live *live, const tl_sim *sim);

/// What the window wished for since the last step. Called with the mutex held; the calls here are short.
void view_live_grant(view_live *live);

/// What was chosen from the panel since the last frame.
void view_live_change(view_live *live);
