// respond/contact_term.h: contact as a term of the potential.
#pragma once
#include "physics/term.h"
#include "respond/contact.h"

/// Of contacts that have begun the step and are settled at the first guess, or frozen. In the arena; `contacts` is
/// borrowed.
tl_status tl_contact_term(tl_contacts *contacts, tl_arena *arena, tl_term *out, tl_error *err);
