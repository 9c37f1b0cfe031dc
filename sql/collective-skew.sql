-- At which collectives do ranks arrive far apart, and who comes last?
select g.communicator, g.name, g.sequence, g.ranks_here, g.skew_ns, m.rank as last_rank
from (select coalesce(communicator, '') as communicator, name, sequence, count(*) as ranks_here,
             max(start) as last_start, max(start) - min(start) as skew_ns
      from messages
      where kind = 'collective'
      group by coalesce(communicator, ''), name, sequence) g
join messages m
  on coalesce(m.communicator, '') = g.communicator and m.name = g.name and m.sequence = g.sequence and m.start = g.last_start
where m.kind = 'collective' and g.ranks_here > 1
order by g.skew_ns desc
limit 30
