// respond/respond.c: the kinds by number.

#include "respond/respond.h"

const tl_responder *tl_responder_of(tl_response kind)
{
    static const tl_responder *const kinds[] = {
        [TL_RESPONSE_BARRIER] = &tl_responder_barrier,   [TL_RESPONSE_ZONES] = &tl_responder_zones,
        [TL_RESPONSE_IMPULSE] = &tl_responder_impulse,   [TL_RESPONSE_CONSTRAINT] = &tl_responder_constraint,
        [TL_RESPONSE_PUSH_OUT] = &tl_responder_push_out,
    };
    return (size_t)kind < sizeof kinds / sizeof kinds[0] ? kinds[kind] : NULL;
}
