-- Where was the CPU when it was sampled? (headway's own table of stacks)
select sum(n.samples) as samples, s.function, s.module, s.file, s.line
from (select stack_id, count(*) as samples from sample where stack_id is not null group by stack_id) n
join stacks s on s.id = n.stack_id
group by s.function, s.module, s.file, s.line
order by samples desc
limit 30
