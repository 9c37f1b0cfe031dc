/* SPDX-License-Identifier: Apache-2.0 */
/* csv_messages.c - what ranks exchanged, as messages.csv: a row for each message, and for each
 * rank's part in a collective.
 *
 * The columns are those of struct hwy_message, with the names of communicators and ranks in
 * place of indexes. span, asked and done are ids of spans in the other files. A cell is empty
 * where the value is not known. Times are ns.
 */
#include "export/csv_messages.h"

static const char *const kind_names[HWY_MESSAGE_KINDS] = {"send", "receive", "collective"};

static void csv_message_number(struct out *out, int64_t value)
{
	out_char(out, ',');
	if (value != HWY_NONE)
		out_int(out, value);
}

static void csv_message_text(struct out *out, const struct hwy_trace *trace, int64_t id)
{
	out_char(out, ',');
	out_csv(out, hwy_text(trace, id));
}

void csv_messages_write(struct out *out, const struct hwy_trace *trace)
{
	out_literal(out, "id,pid,rank,library,kind,name,communicator,ranks,peer,tag,sent,received,"
			 "count,datatype,sequence,algorithm,protocol,channels,posted,start,end,"
			 "wait-gpu,wait-peer,wait-network,span,asked,done\n");
	for (uint32_t i = 0; i < trace->n_messages; i++) {
		const struct hwy_message *m = &trace->messages[i];
		const struct hwy_process *process = export_process(trace, m->process);
		const struct hwy_group *group =
			m->group == HWY_NONE ? NULL : &trace->groups[m->group];
		out_int(out, i);
		csv_message_number(out, process ? process->pid : HWY_NONE);
		csv_message_number(out, process ? process->rank : HWY_NONE);
		csv_message_text(out, trace, m->library);
		out_char(out, ',');
		if (m->kind >= 0 && m->kind < HWY_MESSAGE_KINDS)
			out_z(out, kind_names[m->kind]);
		csv_message_text(out, trace, m->name);
		csv_message_text(out, trace, group ? group->name : 0);
		csv_message_text(out, trace, group ? group->ranks : 0);
		const int64_t sizes[] = {m->peer, m->tag, m->sent, m->received, m->count};
		for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
			csv_message_number(out, sizes[k]);
		csv_message_text(out, trace, m->datatype);
		csv_message_number(out, m->sequence);
		csv_message_text(out, trace, m->algorithm);
		csv_message_text(out, trace, m->protocol);
		const int64_t rest[] = {m->channels, m->posted,    m->start,        m->end,
					m->wait_gpu, m->wait_peer, m->wait_network, m->span,
					m->asked,    m->done};
		for (size_t k = 0; k < sizeof rest / sizeof *rest; k++)
			csv_message_number(out, rest[k]);
		out_char(out, '\n');
	}
}
