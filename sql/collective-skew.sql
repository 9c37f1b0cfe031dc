-- At which collectives do ranks arrive far apart, and who comes last?
select m.communicator, m.name, m.sequence, g.ranks, g.skew_ns, m.rank as last_rank
from messages m
join (select communicator, name, sequence, count(*) as ranks, min(start) as first_start, max(start) as last_start,
             max(start) - min(start) as skew_ns
      from messages
      where kind = 'collective'
      group by communicator, name, sequence) g
  on g.communicator = m.communicator and g.name = m.name and g.sequence = m.sequence
where m.kind = 'collective' and m.start = g.last_start and g.ranks > 1
order by g.skew_ns desc
limit 30
