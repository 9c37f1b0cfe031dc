-- Which kernels take most of the device's time?
select name, count(*) as launches, sum(duration) as total_ns, avg(duration) as mean_ns, max(duration) as longest_ns
from kernel
group by name
order by total_ns desc
