// What stands around the racks of a picture: totals above, the key and the gangs below.
#pragma once

#include "model/decision.h"
#include "state/cluster.h"
#include "view/scene.h"
#include "view/svg_canvas.h"

namespace gantree::view {

// Each draws below box.y, between box.x and box.x + box.width, and returns where it ends.

// The topology in words, and a bar: in use before, each gang, free.
double draw_totals(SvgCanvas& canvas, const Scene& scene, const Totals& totals, const Box& box);
// What the fillings mean, as far as they occur.
double draw_key(SvgCanvas& canvas, const Scene& scene, double x, double y);
// The gangs: colour and letter, name, size, and where they are, why they wait or for whom they go.
double draw_gang_list(SvgCanvas& canvas, Cluster& cluster, ResourceId resource, const Plan& plan, const Box& box);

}  // namespace gantree::view
