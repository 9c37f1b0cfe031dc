-- How many kernels are too short to hide the cost of their launch?
select case when duration < 5000 then '1: below 5 us'
            when duration < 20000 then '2: 5 to 20 us'
            when duration < 100000 then '3: 20 to 100 us'
            else '4: 100 us and more' end as length,
       count(*) as kernels, sum(duration) as total_ns
from kernel
group by case when duration < 5000 then '1: below 5 us'
              when duration < 20000 then '2: 5 to 20 us'
              when duration < 100000 then '3: 20 to 100 us'
              else '4: 100 us and more' end
order by length
