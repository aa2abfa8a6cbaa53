// respond/push_out/push_out_kind.c: the kind `push-out`. Dynamics that answer contact themselves call push_out.h; what
// the table has beside its name is for questions between steps and for the start.

#include "respond/contact_kind.h"

const tl_responder tl_responder_push_out = {
    .name = "push-out",
    .promise = "nodes are kept out of bodies, and put back on faces that they went through; edges and faces may pass",
    .in_dynamics = true,
    .create = contact_kind_create,
    .destroy = contact_kind_destroy,
    .forget = contact_kind_forget,
    .contacts = contact_kind_contacts,
    .begin = contact_kind_begin,
    .report = contact_kind_report,
};
