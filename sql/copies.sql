-- What is copied in which direction, and how fast?
select direction, count(*) as copies, sum(bytes) as total_bytes, sum(duration) as total_ns,
       1.0 * sum(bytes) / sum(duration) as gb_per_s
from copy
group by direction
having sum(duration) > 0
order by total_ns desc
