/* analyze_plots.h - the plots of the page that `headway analyze --format html` writes: SVG inside HTML, no
 * script. Each is a <figure>, or nothing where there is nothing to show. */
#ifndef HWY_CLI_ANALYZE_PLOTS_H
#define HWY_CLI_ANALYZE_PLOTS_H

#include "cli/analyze.h"

/* Points of the headway series a page wants: analysis_options.cells. */
enum { PLOT_POINTS = 480 };

/* What threads and devices did in a typical step and the one after it. */
void plot_typical(FILE *out, const struct analyze_run *run, uint32_t phase);
/* The devices' time in exclusive states. */
void plot_states(FILE *out, const struct analyze_run *run, uint32_t phase);
/* Their idle time by cause. */
void plot_causes(FILE *out, const struct analyze_run *run, uint32_t phase);
/* Headway over the steady window, a plot a device. */
void plot_headway(FILE *out, const struct analyze_run *run, uint32_t phase);
/* Every step as a bar: its length, of it busy and idle. */
void plot_steps(FILE *out, const struct analyze_run *run, uint32_t phase);

#endif
