-- Which ranges (NVTX, annotations) take how long?
select sum(duration) as total_ns, count(*) as ranges, avg(duration) as mean_ns, max(duration) as longest_ns, domain, name
from range
group by domain, name
order by total_ns desc
