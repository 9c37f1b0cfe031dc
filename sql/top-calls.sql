-- Which calls of the vendor's library take most of the CPU's time?
select sum(duration) as total_ns, count(*) as calls, avg(duration) as mean_ns, max(duration) as longest_ns, name
from api
group by name
order by total_ns desc
