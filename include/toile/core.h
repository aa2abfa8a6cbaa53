// toile/core.h: everything that works without files, the headers of the library toile-core (toile/toile.h has the
// rest).
#pragma once
#include "toile/base.h"
#include "toile/body.h"
#include "toile/character.h"
#include "toile/collide.h"
#include "toile/delaunay.h"
#include "toile/grid.h"
#include "toile/live.h"
#include "toile/kinds.h"
#include "toile/material.h"
#include "toile/pattern.h"
#include "toile/query.h"
#include "toile/sim.h"
#include "toile/sqrt3.h"
