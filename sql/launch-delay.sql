-- How long do kernels wait on the device after their launch has returned? Near 0: the device waits for the CPU.
select count(*) as kernels, min(k.start - a.start - a.duration) as shortest_ns,
       avg(k.start - a.start - a.duration) as mean_ns, max(k.start - a.start - a.duration) as longest_ns, k.name
from kernel k
join api a on a.id = k.call and coalesce(a.rank, 0) = coalesce(k.rank, 0)
group by k.name
order by kernels desc
