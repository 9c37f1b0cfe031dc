/* SPDX-License-Identifier: Apache-2.0 */
/* collective_args.c - see collective_args.h. Whatever a file has in its arguments, no number
 * comes out negative and none overflows: what cannot be the number of elements that a memory
 * holds is not told. */
#include "trace/collective_args.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_read.h"

/* No memory has so many elements: a larger number is damage. Products with the size of an
 * element and of a group fit. */
#define MOST_ELEMENTS (INT64_C(1) << 48)
/* Lists of at least so many ranks are written as "first-last:stride" where they are regular. */
enum { LONG_LIST = 16, MOST_RANKS = 1 << 20 };

static int64_t number_in(const struct json_value *value, int64_t least, int64_t most)
{
	int64_t number = HWY_NONE;
	if (!value)
		return HWY_NONE;
	if (value->type == JSON_NUMBER)
		number = json_as_int(value, HWY_NONE);
	else if (value->type == JSON_TEXT && isdigit((unsigned char)value->text[0]))
		number = strtoll(value->text, NULL, 10);
	return number >= least && number <= most ? number : HWY_NONE;
}

static int64_t number_of(const struct json_value *root, const char *key, int64_t most)
{
	return number_in(json_get(root, key), 0, most);
}

static const char *text_of(const struct json_value *root, const char *key)
{
	const struct json_value *value = json_get(root, key);
	/* Groups were numbers before they had names. */
	bool is_told = value && (value->type == JSON_TEXT || value->type == JSON_NUMBER);
	return is_told && *value->text ? value->text : NULL;
}

static const struct hwy_datatype *datatype_of(const char *name)
{
	return name ? hwy_datatype_of(name) : NULL;
}

/* ---- ranks ----------------------------------------------------------------------------------- */

struct rank_list {
	int64_t *ranks;
	uint32_t n, cap;
};

/* Reads what follows the first rank of "0-63" or "0-63:8", and adds the ranks after the first;
 * false where it is no such text. */
static bool read_range(struct rank_list *list, const char **text)
{
	long long last, stride = 1, first = list->ranks[list->n - 1];
	char *end;
	last = strtoll(*text + 1, &end, 10);
	if (end == *text + 1 || last < first || last > INT32_MAX)
		return false;
	if (*end == ':')
		stride = strtoll(end + 1, &end, 10);
	if (stride <= 0 || stride > INT32_MAX || (last - first) / stride > MOST_RANKS)
		return false;
	for (long long rank = first + stride; rank <= last; rank += stride) {
		HWY_GROW(list->ranks, list->n, list->cap);
		list->ranks[list->n++] = rank;
	}
	*text = end;
	return true;
}

/* Reads "[0, 1, 2]", "0,1,2" or "0-63:8"; false where something else stands in the list. */
static bool read_ranks(struct rank_list *list, const char *text)
{
	while (*text) {
		if (strchr("[], ", *text)) {
			text++;
			continue;
		}
		if (!isdigit((unsigned char)*text) || list->n >= MOST_RANKS)
			return false;
		char *end;
		int64_t rank = strtoll(text, &end, 10);
		if (rank > INT32_MAX)
			return false;
		HWY_GROW(list->ranks, list->n, list->cap);
		list->ranks[list->n++] = rank;
		text = end;
		if (*text == '-' && !read_range(list, &text))
			return false;
	}
	return list->n > 0;
}

static bool is_regular(const struct rank_list *list)
{
	for (uint32_t i = 2; i < list->n; i++)
		if (list->ranks[i] - list->ranks[i - 1] != list->ranks[1] - list->ranks[0])
			return false;
	return list->n >= LONG_LIST && list->ranks[1] > list->ranks[0];
}

const char *collective_ranks(struct hwy_arena *arena, const char *text)
{
	struct rank_list list = {0};
	const char *made = NULL;
	if (text && read_ranks(&list, text)) {
		long long first = list.ranks[0], last = list.ranks[list.n - 1];
		long long stride = list.n > 1 ? list.ranks[1] - first : 1;
		if (is_regular(&list) && stride == 1) {
			made = hwy_arena_format(arena, "%lld-%lld", first, last);
		} else if (is_regular(&list)) {
			made = hwy_arena_format(arena, "%lld-%lld:%lld", first, last, stride);
		} else {
			enum { MOST_DIGITS = 12 }; /* of a rank, with its comma and a 0 */
			char *to = hwy_arena_array(arena, list.n, MOST_DIGITS);
			size_t n = 0;
			for (uint32_t i = 0; i < list.n; i++)
				n += (size_t)snprintf(to + n, MOST_DIGITS, i ? ",%lld" : "%lld",
						      (long long)list.ranks[i]);
			made = to;
		}
	}
	free(list.ranks);
	return made;
}

int64_t collective_rank_at(const char *ranks, int64_t n)
{
	long long first, last, stride = 1;
	if (n < 0 || n >= MOST_RANKS || !ranks || !*ranks)
		return HWY_NONE;
	if (strchr(ranks, '-')) {
		if (sscanf(ranks, "%lld-%lld:%lld", &first, &last, &stride) < 2 || stride <= 0 ||
		    first < 0 || last > INT32_MAX || stride > INT32_MAX)
			return HWY_NONE;
		return first + n * stride <= last ? first + n * stride : HWY_NONE;
	}
	for (; n > 0 && ranks; n--) {
		ranks = strchr(ranks, ',');
		ranks += ranks != NULL;
	}
	return ranks && isdigit((unsigned char)*ranks) ? strtoll(ranks, NULL, 10) : HWY_NONE;
}

/* ---- the inputs of an operator --------------------------------------------------------------- */

/* Elements of a tensor of these sizes, or of all tensors of a list; HWY_NONE: the sizes are not
 * told, or cannot be. */
static int64_t elements_of(const struct json_value *sizes)
{
	int64_t elements = 1, sum = 0;
	if (!sizes || sizes->type != JSON_ARRAY || !sizes->first)
		return HWY_NONE;
	for (const struct json_value *one = sizes->first; one; one = one->next) {
		bool is_list = one->type == JSON_ARRAY;
		int64_t size = is_list ? elements_of(one) : number_in(one, 0, MOST_ELEMENTS);
		if (size == HWY_NONE)
			return HWY_NONE;
		if (is_list)
			sum += size;
		else if (size > 0 && elements > MOST_ELEMENTS / size)
			return HWY_NONE;
		else
			elements *= size;
		if (sum > MOST_ELEMENTS)
			return HWY_NONE;
	}
	return sizes->first->type == JSON_ARRAY ? sum : elements;
}

static void read_tensors(struct collective_args *args, const struct json_value *root)
{
	const struct json_value *dims = json_get(root, "Input Dims");
	const struct json_value *types = json_get(root, "Input type");
	const struct json_value *one = dims && dims->type == JSON_ARRAY ? dims->first : NULL;
	const struct json_value *type = types && types->type == JSON_ARRAY ? types->first : NULL;
	for (int i = 0; i < COLLECTIVE_TENSORS; i++) {
		args->tensors[i] = elements_of(one);
		if (!args->tensor_type && type && type->type == JSON_TEXT)
			args->tensor_type = hwy_datatype_of(type->text);
		one = one ? one->next : NULL;
		type = type ? type->next : NULL;
	}
}

/* ---- all ------------------------------------------------------------------------------------- */

/* "Process Group Ranks" is a text that looks like a list, or a list. */
static const char *group_ranks(struct hwy_arena *arena, const struct json_value *root)
{
	const struct json_value *value = json_get(root, "Process Group Ranks");
	if (!value || (value->type != JSON_TEXT && value->type != JSON_ARRAY))
		return NULL;
	if (value->type == JSON_TEXT)
		return collective_ranks(arena, value->text);
	const char *text = "";
	for (const struct json_value *one = value->first; one; one = one->next) {
		if (one->type != JSON_NUMBER || value->n > LONG_LIST * 64)
			return NULL;
		text = hwy_arena_format(arena, "%s,%s", text, one->text);
	}
	return collective_ranks(arena, text);
}

/* The id of a communicator as other sources of NCCL have it: hexadecimal digits. */
static const char *communicator_text(struct hwy_arena *arena, const char *id)
{
	char *end;
	if (!id)
		return NULL;
	unsigned long long number = strtoull(id, &end, 0);
	return *end ? id : hwy_arena_format(arena, "%llx", number);
}

static void read_nccl_range(struct collective_args *args, struct hwy_arena *arena,
			    const struct json_value *root)
{
	args->bytes = number_of(root, "Message size [bytes]", INT64_MAX >> 16);
	if (args->rank == HWY_NONE)
		args->rank = number_of(root, "Peer rank", INT32_MAX);
	if (args->rank == HWY_NONE)
		args->rank = number_of(root, "Root", INT32_MAX);
	if (!args->group)
		args->group = communicator_text(arena, text_of(root, "NCCL communicator ID"));
}

bool collective_args_read(struct collective_args *args, struct hwy_arena *arena,
			  struct hwy_text text)
{
	struct hwy_err err = {0};
	const struct json_value *root =
		text.length > 1 ? json_read(arena, text.at, text.length, &err) : NULL;
	const char *operation = text_of(root, "Collective name");
	const char *group = text_of(root, "Process Group Name");
	*args = (struct collective_args){
		.operation = operation ? hwy_exchange_of(operation, strlen(operation)) : NULL,
		.datatype = datatype_of(text_of(root, "dtype")),
		.in = number_of(root, "In msg nelems", MOST_ELEMENTS),
		.out = number_of(root, "Out msg nelems", MOST_ELEMENTS),
		.rank = number_of(root, "Rank", INT32_MAX),
		.world_peer = number_of(root, "Dst Rank", INT32_MAX),
		.sequence = number_of(root, "Seq", INT64_MAX >> 1),
		.group_size = number_of(root, "Group size", INT32_MAX),
		.group = group ? group : text_of(root, "Process Group ID"),
		.description = text_of(root, "Process Group Description"),
		.ranks = group_ranks(arena, root),
	};
	if (args->world_peer == HWY_NONE)
		args->world_peer = number_of(root, "Src Rank", INT32_MAX);
	read_nccl_range(args, arena, root);
	read_tensors(args, root);
	return root && root->type == JSON_OBJECT;
}
