-- Which operators of the framework take most of the CPU's time? (An operator that calls another counts both.)
select sum(duration) as total_ns, count(*) as calls, avg(duration) as mean_ns, name
from op
group by name
order by total_ns desc
