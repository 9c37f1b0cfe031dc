-- In which calls does the CPU wait for the device?
select sum(duration) as total_ns, count(*) as waits, max(duration) as longest_ns, name
from api
where role = 'sync'
group by name
order by total_ns desc
