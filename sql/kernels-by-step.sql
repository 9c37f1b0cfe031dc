-- How many kernels has a step, and how long do they take? (headway's own column step)
select s.number, s.name, s.duration as step_ns, k.kernels, k.kernel_ns
from steps s
join (select step, count(*) as kernels, sum(duration) as kernel_ns from kernel where step is not null group by step) k
  on k.step = s.id
order by s.start
