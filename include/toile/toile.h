// toile/toile.h: everything.
#pragma once
#include "toile/base.h"
#include "toile/material.h"
#include "toile/render.h"
#include "toile/run.h"
#include "toile/scene.h"
#include "toile/sim.h"
#include "toile/body.h"
#include "toile/collide.h"
