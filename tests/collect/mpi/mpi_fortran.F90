! SPDX-License-Identifier: Apache-2.0
! mpi_fortran.F90 - calls MPI from Fortran, and writes down what it did, as mpi_calls.c does: mpi_fortran FOLDER.
! With -DF08 by the module mpi_f08, else by the module mpi. Needs 2 ranks or more.
program mpi_fortran
#ifdef F08
  use mpi_f08
#define HANDLE(kind) type(kind)
#define STATUSES(name, n) type(MPI_Status) :: name(n)
#else
  use mpi
#define HANDLE(kind) integer
#define STATUSES(name, n) integer :: name(MPI_STATUS_SIZE, n)
#endif
  implicit none
  integer :: rank, n, next, last, ierr, i, half_rank, length
  logical :: flag
  double precision :: a(100), b(100)
  integer :: k(10), index
  HANDLE(MPI_Request) :: requests(2)
  HANDLE(MPI_Comm) :: half
  STATUSES(statuses, 2)
  character(len=4096) :: folder
  character(len=32) :: world, members

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, n, ierr)
  call get_command_argument(1, folder, length)
  write (folder(length + 1:), '("/did.", I0)') rank
  open (10, file=trim(folder), status='replace')
  next = mod(rank + 1, n)
  last = mod(rank + n - 1, n)
  world = '0'
  do i = 1, n - 1
    write (world(len_trim(world) + 1:), '(",", I0)') i
  end do
  a = rank

  do i = 1, 3
    call MPI_Irecv(b, 100, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_Isend(a, 10 * i, MPI_DOUBLE_PRECISION, next, 5, MPI_COMM_WORLD, requests(2), ierr)
    if (i == 1) then
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
    else if (i == 2) then
      call MPI_Waitall(2, requests, statuses, ierr)
    else
      call MPI_Waitany(2, requests, index, MPI_STATUS_IGNORE, ierr)
      call MPI_Waitany(2, requests, index, MPI_STATUS_IGNORE, ierr)
    end if
    call message('Send', next, 5, 80 * i, 0, world)
    call message('Receive', last, 5, 0, 80 * i, world)
  end do
  call MPI_Sendrecv(k, 3, MPI_INTEGER, next, 6, k(5), 4, MPI_INTEGER, last, 6, MPI_COMM_WORLD, &
                    MPI_STATUS_IGNORE, ierr)
  call message('Send', next, 6, 12, 0, world)
  call message('Receive', last, 6, 0, 12, world)
  call MPI_Allreduce(a, b, 7, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
  call message('AllReduce', -1, -1, 56, 56, world)
  call MPI_Allreduce(MPI_IN_PLACE, b, 7, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
  call message('AllReduce', -1, -1, 56, 56, world)
  call MPI_Bcast(k, 2, MPI_INTEGER, 1, MPI_COMM_WORLD, ierr)
  if (rank == 1) then
    call message('Broadcast', 1, -1, 8, 0, world)
  else
    call message('Broadcast', 1, -1, 0, 8, world)
  end if
  call MPI_Comm_split(MPI_COMM_WORLD, rank, 0, half, ierr)
  call MPI_Comm_rank(half, half_rank, ierr)
  call MPI_Barrier(half, ierr)
  write (members, '(I0)') rank
  call message('Barrier', -1, -1, 0, 0, members)
  call MPI_Comm_free(half, ierr)
  call MPI_Iprobe(last, 77, MPI_COMM_WORLD, flag, MPI_STATUS_IGNORE, ierr)
  call MPI_Finalize(ierr)

  call calls('Init', 1)
  call calls('Irecv', 3)
  call calls('Isend', 3)
  call calls('Waitall', 2)
  call calls('Waitany', 2)
  call calls('Sendrecv', 1)
  call calls('Allreduce', 2)
  call calls('Bcast', 1)
  call calls('Comm_split', 1)
  call calls('Barrier', 1)
  call calls('Comm_free', 1)
  call calls('Iprobe', 1)
  call calls('Finalize', 1)
  close (10)

contains
  subroutine calls(name, number)
    character(len=*), intent(in) :: name
    integer, intent(in) :: number
    write (10, '("CALLS ", I0, " MPI_", A, " ", I0)') rank, name, number
  end subroutine

  subroutine message(op, peer, tag, sent, received, ranks)
    character(len=*), intent(in) :: op, ranks
    integer, intent(in) :: peer, tag, sent, received
    character(len=12) :: peers, tags
    peers = '-'
    tags = '-'
    if (peer >= 0) write (peers, '(I0)') peer
    if (tag >= 0) write (tags, '(I0)') tag
    write (10, '("MESSAGE ", I0, " ", A, " ", A, " ", A, " ", I0, " ", I0, " ", A)') &
      rank, op, trim(peers), trim(tags), sent, received, trim(ranks)
  end subroutine
end program
