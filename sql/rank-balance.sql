-- How much time do the kernels of each rank of a job take?
select rank, count(*) as kernels, sum(duration) as total_ns, avg(duration) as mean_ns
from kernel
group by rank
order by rank
