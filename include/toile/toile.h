// toile/toile.h: everything: the core, and what reads and writes files.
#pragma once
#include "toile/core.h"
#include "toile/export.h"
#include "toile/recording.h"
#include "toile/render.h"
#include "toile/run.h"
#include "toile/scene.h"
#include "toile/sewing.h"
#include "toile/show.h"
#include "toile/sweep.h"
