-- Which kernels take most of the device's time?
select sum(duration) as total_ns, count(*) as launches, avg(duration) as mean_ns, max(duration) as longest_ns, name
from kernel
group by name
order by total_ns desc
