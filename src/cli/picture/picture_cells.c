/* SPDX-License-Identifier: Apache-2.0 */
/* picture_cells.c - turns intervals into cells. Layers are laid over each other: a layer's own
 * time is what it adds to the union of the layers before it, so the states of a row add up to
 * the window. */
#include <stdlib.h>

#include "base/mem.h"
#include "cli/picture/picture.h"

void picture_layer_add(struct picture_layer *layer, int64_t from, int64_t to)
{
	HWY_GROW(layer->spans, layer->n, layer->cap);
	layer->spans[layer->n++] = (struct hwy_interval){from, to};
}

static int picture_cells_by_start(const void *a, const void *b)
{
	const struct hwy_interval *x = a, *y = b;
	return (x->from > y->from) - (x->from < y->from);
}

static int64_t edge(const struct hwy_picture *picture, uint32_t cell)
{
	__int128 span = picture->to - picture->from;
	return picture->from + (int64_t)(span * cell / picture->cells);
}

/* Adds to 'sums' how much of each cell the union of the first 'n' layers covers, in ns. */
static void measure_union(const struct hwy_picture *picture, const struct picture_layer *layers,
			  uint32_t n, struct hwy_interval *windows, int64_t *sums)
{
	uint32_t total = 0;
	for (uint32_t i = 0; i < n; i++)
		total += layers[i].n;
	struct hwy_interval *all = hwy_array(total, sizeof *all), fresh;
	uint32_t k = 0;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t s = 0; s < layers[i].n; s++)
			all[k++] = layers[i].spans[s];
	qsort(all, total, sizeof *all, picture_cells_by_start);
	struct hwy_bins bins = {.windows = windows, .sums = sums, .n = picture->cells};
	struct hwy_cover cover = {0};
	for (uint32_t s = 0; s < total; s++)
		if (cover_add(&cover, all[s].from, all[s].to, &fresh))
			bins_add(&bins, fresh.from, fresh.to);
	free(all);
}

/* Yields the layer with the most time in the cell, n where none has any; with 'is_small', of
 * those that are seen where they are the lesser part. */
static uint32_t most_of(const int64_t *times, uint32_t n, const struct picture_layer *layers,
			bool is_small)
{
	uint32_t most = n;
	for (uint32_t i = 0; i < n; i++)
		if (times[i] > (most < n ? times[most] : 0) &&
		    !(is_small &&
		      (layers[i].state == PICTURE_OS || layers[i].state == PICTURE_WAIT)))
			most = i;
	return most;
}

/* Calls and work are seen in a cell that is mostly empty: a launch takes a few us of
 * milliseconds. Calls into the OS are not: a thread that computes reads and writes now and then,
 * and would seem to be in the OS all the time. */
static struct picture_cell cell_of(const int64_t *times, int64_t length,
				   const struct picture_layer *layers, uint32_t n)
{
	struct picture_cell cell = {0};
	int64_t nothing = length;
	for (uint32_t i = 0; i < n; i++)
		nothing -= times[i];
	uint32_t most = most_of(times, n, layers, false);
	if (most < n && layers[most].state == PICTURE_OS && nothing > times[most])
		most = most_of(times, n, layers, true);
	if (most < n) {
		int64_t part = (int64_t)((__int128)times[most] * 255 / length);
		cell.state = (uint8_t)layers[most].state;
		cell.part = (uint8_t)(part ? part : 1);
	}
	return cell;
}

void picture_fill(const struct hwy_picture *picture, struct picture_row *row,
		  struct picture_layer *layers, uint32_t n_layers)
{
	uint32_t n = picture->cells;
	int64_t *sums[PICTURE_LAYERS] = {0}, rest = picture->to - picture->from;
	struct hwy_interval *windows = hwy_array(n, sizeof *windows);
	for (uint32_t c = 0; c < n; c++)
		windows[c] = (struct hwy_interval){edge(picture, c), edge(picture, c + 1)};
	for (uint32_t i = 0; i < n_layers; i++) {
		sums[i] = hwy_zarray(n, sizeof *sums[i]);
		measure_union(picture, layers, i + 1, windows, sums[i]);
	}
	row->cells = hwy_zarray(n, sizeof *row->cells);
	for (uint32_t c = 0; c < n; c++) {
		int64_t own[PICTURE_LAYERS], covered = 0;
		for (uint32_t i = 0; i < n_layers; i++) {
			own[i] = sums[i][c] - covered;
			covered = sums[i][c];
			row->time[layers[i].state] += own[i];
			rest -= own[i];
		}
		row->cells[c] = cell_of(own, windows[c].to - windows[c].from, layers, n_layers);
	}
	row->time[PICTURE_NOTHING] = rest;
	for (uint32_t i = 0; i < n_layers; i++) {
		free(sums[i]);
		free(layers[i].spans);
		layers[i] = (struct picture_layer){0};
	}
	free(windows);
}
