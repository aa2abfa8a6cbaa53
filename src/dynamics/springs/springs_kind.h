// dynamics/springs/springs_kind.h: settings of a simulation as the spring solver has them.
#pragma once
#include "dynamics/springs/springs.h"
#include "toile/dynamics.h"

tl_springs_def tl_springs_def_of(const tl_springs_options *options);
