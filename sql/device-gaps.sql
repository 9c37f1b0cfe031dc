-- When has a device no work (kernels, copies, fills) for longest, from the first steady step to the last, and why? (docs/gaps.md has the causes)
with work as (
	select device, start, duration, name from kernel
	union all
	select device, start, duration, 'copy ' || coalesce(direction, '') as name from copy
	union all
	select device, start, duration, 'fill' as name from fill
	union all
	select device, min(start) as start, 0 as duration, '' as name from gaps group by device
), idle as (
	select device, latest as from_ns, start as to_ns, name as next_work
	from (select device, start, name,
	             max(start + duration) over (partition by device order by start
	                                         rows between unbounded preceding and 1 preceding) as latest
	      from work) w
	where start > latest
), mark as (
	select device, from_ns as at_ns, 0 as is_part, 0 as part_ns, 0 as phase, null as cause from idle
	union all
	select device, start as at_ns, 1 as is_part, duration as part_ns, phase, cause from gaps
), part as (
	select device, from_ns, cause, sum(part_ns) as part_ns
	from (select device, is_part, part_ns, phase, cause,
	             max(case when is_part = 0 then at_ns end) over (partition by device order by at_ns, is_part
	                                                             rows between unbounded preceding and current row) as from_ns
	      from mark) m
	where is_part = 1
	group by device, from_ns, phase, cause
), reason as (
	select device, from_ns, cause, part_ns,
	       row_number() over (partition by device, from_ns order by part_ns desc, cause) as place
	from part
), bound as (
	select device, min(start) as first_ns, max(start + duration) as last_ns from gaps group by device
)
select i.device, i.to_ns - i.from_ns as gap_ns, r.cause, r.part_ns as cause_ns, i.from_ns, i.to_ns, i.next_work
from idle i
left join bound b on b.device = i.device
left join reason r on r.device = i.device and r.from_ns = i.from_ns and r.place = 1
where b.device is null or (i.to_ns > b.first_ns and i.from_ns < b.last_ns)
order by gap_ns desc, i.from_ns
limit 20
