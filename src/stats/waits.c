#include "stats/families.h"
bool make_wait_sum(struct stats_run *run, struct hwy_err *err) { (void)run; (void)err; return true; }
bool make_graph_sum(struct stats_run *run, struct hwy_err *err) { (void)run; (void)err; return true; }
