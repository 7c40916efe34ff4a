# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Serves requests event by event, compiled: the exact twin of `kernel.py` on C arrays.

The same events in the same order with the same operations on floating-point numbers; tests compare the two.
"""

from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport INFINITY, frexp
from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memset

from kubeproof.errors import LimitReached
from kubeproof.simulate.serving.shapes import MOST_OPEN, Tally, Use
from kubeproof.simulate.serving.times import BUCKETS, HIGHEST, LOWEST, PARTS

cdef enum:
    BUCKET_COUNT = 3840
    PART_COUNT = 64
    LOWEST_EXPONENT = -30
    HIGHEST_EXPONENT = 30
    LONGEST_TIME = 1073741824
    BALANCE_RANDOM = 1
    BALANCE_LEAST = 2
    NONE = -1
    SIGNAL_MASK = 65535

assert (BUCKETS, PARTS, LOWEST, HIGHEST) == (BUCKET_COUNT, PART_COUNT, LOWEST_EXPONENT, HIGHEST_EXPONENT)

cdef struct Entry:
    double key  # level at which a request ends; of one that waits, its number among those that ever did
    int request

cdef struct Ring:
    Entry* items
    int head
    int count
    int capacity

cdef struct Lane:
    int service
    Ring line

cdef struct Pod:
    bint exists
    int node
    int lanes
    Lane* lane
    Ring waiting
    int connections
    int serving
    double limit
    double weight
    double memory
    double level
    double pace
    double core_s
    double since
    int64_t held
    int64_t most_held
    double next_end
    int place  # in the heap of next ends; NONE: nothing of it ends by itself

cdef struct Node:
    double cores
    int64_t memory
    int count
    int* pods
    int64_t held
    int64_t waiting
    int64_t serving  # requests of all its pods
    bint is_ample
    bint is_short  # some pod gets less than it asks for

cdef struct Request:
    double arrived
    int64_t calling  # when its own work was done, as a number; 0: it is not
    int service
    int parent
    int parent_age
    int pod
    int stage
    int open_calls
    int age  # goes up when the request is over or begins again: who knows an older one does not mean it
    bint is_open

cdef struct Service:
    double cpu_s
    int64_t memory
    double deadline_s
    int balancing
    int stages
    int* first_call  # per stage, and one more
    int* calls
    int ready_count
    int* ready
    int64_t turn
    int64_t arrived
    int64_t ok
    int64_t late
    int64_t failed
    int64_t waiting
    double total_s
    double least_s
    double most_s
    int64_t* buckets
    int low
    int high


cdef void* grown(void* items, size_t size) except NULL:
    cdef void* found = realloc(items, size)
    if found == NULL:
        raise MemoryError
    return found


cdef void* cleared(size_t count, size_t size) except NULL:
    cdef void* found = calloc(count if count else 1, size)
    if found == NULL:
        raise MemoryError
    return found


cdef int push(Ring* ring, double key, int request) except -1:
    cdef int position, old
    if ring.count == ring.capacity:
        old = ring.capacity
        ring.capacity = 2 * old if old else 8
        ring.items = <Entry*> grown(ring.items, ring.capacity * sizeof(Entry))
        for position in range(ring.head):  # what had gone round follows the rest
            ring.items[old + position] = ring.items[position]
    position = ring.head + ring.count
    if position >= ring.capacity:
        position -= ring.capacity
    ring.items[position].key = key
    ring.items[position].request = request
    ring.count += 1
    return 0


cdef inline Entry pop(Ring* ring) noexcept nogil:
    cdef Entry found = ring.items[ring.head]
    ring.head += 1
    if ring.head == ring.capacity:
        ring.head = 0
    ring.count -= 1
    return found


cdef inline int bucket_of(double time_s) noexcept nogil:
    cdef int exponent
    cdef double mantissa
    if time_s >= LONGEST_TIME:
        return BUCKET_COUNT - 1
    mantissa = frexp(time_s, &exponent)
    if time_s <= 0.0 or exponent <= LOWEST_EXPONENT:
        return 0
    return (exponent - LOWEST_EXPONENT - 1) * PART_COUNT + <int> ((mantissa - 0.5) * 2 * PART_COUNT)


cdef class CompiledKernel:
    """See `ServingKernel`."""

    cdef Service* _services
    cdef int _service_count
    cdef Pod* _pods
    cdef int _pod_count
    cdef Node* _nodes
    cdef int _node_count
    cdef Request* _requests
    cdef int _request_count
    cdef int _request_room
    cdef int* _free
    cdef int _free_count
    cdef int* _heap
    cdef int _heap_count
    cdef double* _demands  # room for one node's pods
    cdef double* _shares
    cdef int* _busy
    cdef char* _met
    cdef double _now
    cdef int64_t _waited
    cdef int64_t _called
    cdef int64_t _open
    cdef int64_t _most_open
    cdef uint64_t _random
    cdef bint _reroutes

    @property
    def name(self):
        return "compiled"

    def __init__(self, shapes, *, seed, reroutes, most_open=MOST_OPEN):
        cdef int index
        self._random = seed & 0xFFFFFFFFFFFFFFFF
        self._reroutes = reroutes
        self._most_open = min(most_open, 1_000_000_000)
        self._services = <Service*> cleared(len(shapes), sizeof(Service))
        self._service_count = len(shapes)
        for index, shape in enumerate(shapes):
            self._shape(&self._services[index], shape)

    cdef int _shape(self, Service* service, shape) except -1:
        cdef int stage = 0, place = 0
        service.cpu_s, service.memory, service.deadline_s = shape.cpu_s, shape.memory, shape.deadline_s
        service.balancing = shape.balancing
        service.buckets = <int64_t*> cleared(BUCKET_COUNT, sizeof(int64_t))
        service.stages = len(shape.stages)
        service.first_call = <int*> cleared(service.stages + 1, sizeof(int))
        service.calls = <int*> cleared(sum(map(len, shape.stages)), sizeof(int))
        for stage, calls in enumerate(shape.stages):
            for call in calls:
                service.calls[place] = call
                place += 1
            service.first_call[stage + 1] = place
        self._clear(service)
        return 0

    def __dealloc__(self):
        cdef int index
        for index in range(self._service_count):
            free(self._services[index].first_call)
            free(self._services[index].calls)
            free(self._services[index].ready)
            free(self._services[index].buckets)
        for index in range(self._pod_count):
            self._forget(&self._pods[index])
        for index in range(self._node_count):
            free(self._nodes[index].pods)
        free(self._services)
        free(self._pods)
        free(self._nodes)
        free(self._requests)
        free(self._free)
        free(self._heap)
        free(self._demands)
        free(self._shares)
        free(self._busy)
        free(self._met)

    cdef void _forget(self, Pod* pod) noexcept:
        cdef int lane
        for lane in range(pod.lanes):
            free(pod.lane[lane].line.items)
        free(pod.lane)
        free(pod.waiting.items)
        memset(pod, 0, sizeof(Pod))
        pod.place = NONE

    # -- pods and nodes ---------------------------------------------------------------------------

    def place(self, placement):
        """Changes pods and nodes now."""
        cdef int number, index
        for number in range(self._pod_count):
            if self._pods[number].exists:
                self._advance_pod(&self._pods[number])
        kept = {setting.number for setting in placement.pods}
        lost = []
        for number in range(self._pod_count):
            if self._pods[number].exists and number not in kept:
                lost += self._removed(number)
        self._make_room(max(kept, default=-1) + 1)
        self._set_nodes(placement.nodes, len(placement.pods))
        for setting in placement.pods:
            self._settle(setting)
        for index in range(self._service_count):
            self._set_ready(&self._services[index], placement.ready[index])
        for index in range(self._node_count):
            self._set_ample(&self._nodes[index])
            self._admit(&self._nodes[index])
            self._set_paces(&self._nodes[index], NONE)
        for number, age in lost:
            self._again(number, age)

    cdef list _removed(self, int number):
        """The requests of a pod that is gone, each with its age."""
        cdef Pod* pod = &self._pods[number]
        cdef int lane, position
        cdef Ring* ring
        lost, lines = [], []
        for lane in range(pod.lanes):
            lines.append((pod.lane[lane].service, lane))
        for _, lane in sorted(lines):
            lost += self._listed(&pod.lane[lane].line)
        lost += self._listed(&pod.waiting)
        calling = []
        for position in range(self._request_count):
            if self._requests[position].is_open and self._requests[position].pod == number:
                if self._requests[position].calling:
                    calling.append((self._requests[position].calling, position))
        lost += [position for _, position in sorted(calling)]
        for position in lost:
            self._requests[position].pod = NONE
        self._leave_heap(number)
        self._forget(pod)
        return [(position, self._requests[position].age) for position in lost]

    cdef list _listed(self, Ring* ring):
        return [ring.items[(ring.head + position) % ring.capacity].request for position in range(ring.count)]

    cdef int _make_room(self, int count) except -1:
        cdef int number
        if count <= self._pod_count:
            return 0
        self._pods = <Pod*> grown(self._pods, count * sizeof(Pod))
        memset(&self._pods[self._pod_count], 0, (count - self._pod_count) * sizeof(Pod))
        for number in range(self._pod_count, count):
            self._pods[number].place = NONE
        self._pod_count = count
        self._heap = <int*> grown(self._heap, count * sizeof(int))
        self._demands = <double*> grown(self._demands, count * sizeof(double))
        self._shares = <double*> grown(self._shares, count * sizeof(double))
        self._busy = <int*> grown(self._busy, count * sizeof(int))
        self._met = <char*> grown(self._met, count)
        return 0

    cdef int _set_nodes(self, nodes, int pods) except -1:
        cdef int index
        for index in range(self._node_count):
            free(self._nodes[index].pods)
        self._node_count = 0
        self._nodes = <Node*> grown(self._nodes, (len(nodes) or 1) * sizeof(Node))
        memset(self._nodes, 0, len(nodes) * sizeof(Node))
        for index, node in enumerate(nodes):
            self._nodes[index].cores, self._nodes[index].memory = node.cores, node.memory
            self._nodes[index].pods = <int*> cleared(pods, sizeof(int))
            self._node_count = index + 1
        return 0

    cdef int _settle(self, setting) except -1:
        """The pod on its node, with what it has."""
        cdef Pod* pod = &self._pods[setting.number]
        cdef Node* node = &self._nodes[setting.node]
        cdef int lane
        if not pod.exists:
            pod.exists = True
            pod.since = self._now
        pod.node, pod.limit, pod.weight, pod.memory = setting.node, setting.limit, setting.weight, setting.memory
        for service in setting.services:
            for lane in range(pod.lanes):
                if pod.lane[lane].service == service:
                    break
            else:
                pod.lane = <Lane*> grown(pod.lane, (pod.lanes + 1) * sizeof(Lane))
                memset(&pod.lane[pod.lanes], 0, sizeof(Lane))
                pod.lane[pod.lanes].service = service
                pod.lanes += 1
        node.pods[node.count] = setting.number
        node.count += 1
        node.held += pod.held
        node.waiting += pod.waiting.count
        node.serving += pod.serving
        return 0

    cdef int _set_ready(self, Service* service, numbers) except -1:
        cdef int index
        service.ready = <int*> grown(service.ready, (len(numbers) or 1) * sizeof(int))
        service.ready_count = len(numbers)
        for index, number in enumerate(numbers):
            service.ready[index] = number
        return 0

    cdef void _set_ample(self, Node* node) noexcept:
        cdef double total = 0.0
        cdef int index
        for index in range(node.count):
            total += self._pods[node.pods[index]].limit
        node.is_ample = total <= node.cores

    cdef int _again(self, int number, int age) except -1:
        """A request whose pod is gone is sent to another one and begins from the start, or fails."""
        cdef Request* request = &self._requests[number]
        if not request.is_open or request.age != age:
            return 0
        if not self._reroutes:
            return self._fail(number)
        request.age += 1
        request.stage = request.open_calls = 0
        request.calling = 0
        return self._send(number)

    # -- time -------------------------------------------------------------------------------------

    def advance(self, double until, const double[:] times, const int[:] services):
        """Serves until then."""
        cdef Py_ssize_t index
        cdef int number
        if times.shape[0] != services.shape[0]:
            raise ValueError("as many times as services")
        for index in range(times.shape[0]):
            self._end_all(times[index])
            self._now = times[index]
            self._come(services[index], NONE)
            if index & SIGNAL_MASK == SIGNAL_MASK:
                PyErr_CheckSignals()
        self._end_all(until)
        self._now = until
        for number in range(self._pod_count):
            if self._pods[number].exists:
                self._advance_pod(&self._pods[number])

    cdef int _end_all(self, double until) except -1:
        cdef Pod* pod
        while self._heap_count:
            pod = &self._pods[self._heap[0]]
            if pod.next_end > until:
                return 0
            if pod.next_end > self._now:
                self._now = pod.next_end
            self._end_first(pod)
        return 0

    cdef int _end_first(self, Pod* pod) except -1:
        """The own work of the next request of a pod is done."""
        cdef Lane* lane = self._next_lane(pod)
        cdef Entry entry
        cdef Node* node = &self._nodes[pod.node]
        cdef int64_t memory = self._services[lane.service].memory
        self._advance_pod(pod)
        entry = pop(&lane.line)
        pod.level = entry.key
        pod.serving -= 1
        node.serving -= 1
        pod.held -= memory
        node.held -= memory
        if not pod.serving:
            pod.level = 0.0
        if node.waiting:
            self._admit(node)
        self._repace(pod)
        return self._next_stage(entry.request)

    cdef inline Lane* _next_lane(self, Pod* pod) noexcept:
        """The line whose first request ends next; the lower service on a tie. NULL: nothing is served."""
        cdef Lane* found = NULL
        cdef Lane* lane
        cdef double key, best = 0.0
        cdef int index
        for index in range(pod.lanes):
            lane = &pod.lane[index]
            if not lane.line.count:
                continue
            key = lane.line.items[lane.line.head].key
            if found == NULL or key < best or (key == best and lane.service < found.service):
                found, best = lane, key
        return found

    cdef inline void _advance_pod(self, Pod* pod) noexcept:
        cdef double gained
        if pod.serving:
            gained = (self._now - pod.since) * pod.pace
            pod.level += gained
            pod.core_s += gained * pod.serving
        pod.since = self._now

    # -- requests ---------------------------------------------------------------------------------

    cdef int _come(self, int service, int parent) except -1:
        cdef int number
        cdef Request* request
        self._services[service].arrived += 1
        self._open += 1
        if self._open > self._most_open:
            raise LimitReached(
                f"E301 more than {self._most_open:,} requests wait at {self._now:g} s. "
                "The services get far more than they can serve: give them more pods, or fewer requests."
            )
        number = self._fresh()
        request = &self._requests[number]
        request.arrived, request.service, request.parent = self._now, service, parent
        request.parent_age = self._requests[parent].age if parent != NONE else 0
        request.pod = NONE
        request.stage = request.open_calls = 0
        request.calling = 0
        request.is_open = True
        return self._send(number)

    cdef int _fresh(self) except -1:
        """The number of a request that is over, or a new one."""
        if self._free_count:
            self._free_count -= 1
            return self._free[self._free_count]
        if self._request_count == self._request_room:
            self._request_room = 2 * self._request_room if self._request_room else 1024
            self._requests = <Request*> grown(self._requests, self._request_room * sizeof(Request))
            self._free = <int*> grown(self._free, self._request_room * sizeof(int))
        memset(&self._requests[self._request_count], 0, sizeof(Request))
        self._request_count += 1
        return self._request_count - 1

    cdef int _send(self, int number) except -1:
        """To a pod, if there is one that could ever hold it."""
        cdef Request* request = &self._requests[number]
        cdef Service* service = &self._services[request.service]
        cdef Pod* pod
        cdef Node* node
        if not service.ready_count:
            return self._fail(number)
        request.pod = service.ready[self._turn(service)]
        pod = &self._pods[request.pod]
        node = &self._nodes[pod.node]
        if service.memory > pod.memory or service.memory > node.memory:
            request.pod = NONE
            return self._fail(number)
        pod.connections += 1
        if pod.waiting.count or not self._fits(pod, node, service.memory):
            self._waited += 1
            push(&pod.waiting, self._waited, number)
            node.waiting += 1
            return 0
        self._advance_pod(pod)
        self._begin(pod, number)
        return self._repace(pod)

    cdef int _turn(self, Service* service) noexcept:
        """The place of the pod that gets the next request."""
        cdef int count = service.ready_count, turn, place, step, best, fewest, connections
        cdef uint64_t mixed
        if service.balancing == BALANCE_RANDOM:
            self._random += 0x9E3779B97F4A7C15u
            mixed = self._random
            mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u
            mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu
            mixed = mixed ^ (mixed >> 31)
            return <int> (((mixed >> 32) * <uint64_t> count) >> 32)
        turn = <int> (service.turn % count)
        if service.balancing == BALANCE_LEAST:
            best = place = turn
            fewest = 0x7FFFFFFF
            for step in range(count):
                connections = self._pods[service.ready[place]].connections
                if connections < fewest:
                    fewest, best = connections, place
                    if not fewest:
                        break
                place += 1
                if place == count:
                    place = 0
            turn = best
        service.turn = turn + 1
        return turn

    cdef inline bint _fits(self, Pod* pod, Node* node, int64_t memory) noexcept:
        return pod.held + memory <= pod.memory and node.held + memory <= node.memory

    cdef int _begin(self, Pod* pod, int number) except -1:
        cdef Service* service = &self._services[self._requests[number].service]
        cdef int lane
        pod.held += service.memory
        self._nodes[pod.node].held += service.memory
        if pod.held > pod.most_held:
            pod.most_held = pod.held
        for lane in range(pod.lanes):
            if pod.lane[lane].service == self._requests[number].service:
                push(&pod.lane[lane].line, pod.level + service.cpu_s, number)
                break
        pod.serving += 1
        self._nodes[pod.node].serving += 1
        return 0

    cdef int _admit(self, Node* node) except -1:
        """Requests that waited begin as far as there is memory now: of those that fit, who waited longest."""
        cdef int index, service
        cdef Pod* pod
        cdef Pod* first
        cdef Entry entry
        while node.waiting:
            first = NULL
            for index in range(node.count):
                pod = &self._pods[node.pods[index]]
                if not pod.waiting.count:
                    continue
                entry = pod.waiting.items[pod.waiting.head]
                service = self._requests[entry.request].service
                if self._fits(pod, node, self._services[service].memory):
                    if first == NULL or entry.key < first.waiting.items[first.waiting.head].key:
                        first = pod
            if first == NULL:
                return 0
            entry = pop(&first.waiting)
            node.waiting -= 1
            self._advance_pod(first)
            self._begin(first, entry.request)
            self._repace(first)
        return 0

    cdef int _next_stage(self, int number) except -1:
        """Makes the calls of the next stage; without one the request is answered."""
        cdef Service* service = &self._services[self._requests[number].service]
        cdef int stage = self._requests[number].stage, age = self._requests[number].age, call
        if stage == service.stages:
            return self._answer(number)
        self._requests[number].stage += 1
        self._requests[number].open_calls = service.first_call[stage + 1] - service.first_call[stage]
        if not self._requests[number].calling:
            self._called += 1
            self._requests[number].calling = self._called
        for call in range(service.first_call[stage], service.first_call[stage + 1]):
            if self._requests[number].is_open and self._requests[number].age == age:
                self._come(service.calls[call], number)
        return 0

    cdef int _answer(self, int number) except -1:
        cdef Request* request = &self._requests[number]
        cdef Service* service = &self._services[request.service]
        cdef double time_s = self._now - request.arrived
        cdef int bucket = bucket_of(time_s), parent = request.parent, age = request.parent_age
        self._close(number)
        if time_s <= service.deadline_s:
            service.ok += 1
        else:
            service.late += 1
        service.buckets[bucket] += 1
        service.low = min(service.low, bucket)
        service.high = max(service.high, bucket)
        service.total_s += time_s
        service.least_s = min(service.least_s, time_s)
        service.most_s = max(service.most_s, time_s)
        if parent != NONE and self._requests[parent].is_open and self._requests[parent].age == age:
            self._requests[parent].open_calls -= 1
            if not self._requests[parent].open_calls:
                return self._next_stage(parent)
        return 0

    cdef int _fail(self, int number) except -1:
        cdef int parent = self._requests[number].parent, age = self._requests[number].parent_age
        self._close(number)
        self._services[self._requests[number].service].failed += 1
        if parent != NONE and self._requests[parent].is_open and self._requests[parent].age == age:
            return self._fail(parent)
        return 0

    cdef void _close(self, int number) noexcept:
        cdef Request* request = &self._requests[number]
        request.is_open = False
        request.age += 1
        self._open -= 1
        if request.pod != NONE:
            self._pods[request.pod].connections -= 1
        self._free[self._free_count] = number
        self._free_count += 1

    # -- pace -------------------------------------------------------------------------------------

    cdef int _repace(self, Pod* pod) except -1:
        """A pod has more or fewer requests in service: its pace changes, on a full node that of others too."""
        cdef Node* node = &self._nodes[pod.node]
        # No request asks for more than a core: as few requests as cores, now as before, are short of nothing.
        if node.is_ample or (node.serving <= node.cores and not node.is_short):
            self._set_pace(pod, min(pod.limit, <double> pod.serving))
        else:
            if not pod.serving:
                self._leave_heap(<int> (pod - self._pods))
            self._set_paces(node, <int> (pod - self._pods))
        return 0

    cdef void _set_paces(self, Node* node, int changed) noexcept:
        """Shares a node anew; a pod that keeps its pace also keeps its next end, unless it is the one that changed."""
        cdef int index, count = 0
        cdef Pod* pod
        cdef double* shares
        cdef double total = 0.0
        for index in range(node.count):
            pod = &self._pods[node.pods[index]]
            if pod.serving:
                self._busy[count] = node.pods[index]
                self._demands[count] = min(pod.limit, <double> pod.serving)
                total += self._demands[count]
                count += 1
        if node.is_ample or total <= node.cores:
            shares = self._demands
            node.is_short = False
        else:
            node.is_short = True
            self._share(count, node.cores)
            shares = self._shares
        for index in range(count):
            pod = &self._pods[self._busy[index]]
            if self._busy[index] == changed or shares[index] / pod.serving != pod.pace:
                self._set_pace(pod, shares[index])

    cdef void _share(self, int count, double left) noexcept:
        """Max-min fair shares by weight; see `sharing.py`."""
        cdef int index, unmet = count
        cdef bint has_met
        cdef double weight, share
        memset(self._met, 0, count)
        while True:
            weight = 0.0
            for index in range(count):
                if not self._met[index]:
                    weight += self._pods[self._busy[index]].weight
            has_met = False
            share = left
            for index in range(count):
                if not self._met[index] and (
                    self._demands[index] * weight <= left * self._pods[self._busy[index]].weight
                ):
                    self._met[index] = 1
                    self._shares[index] = self._demands[index]
                    share -= self._demands[index]
                    unmet -= 1
                    has_met = True
            left = share
            if not has_met or not unmet:
                break
        for index in range(count):
            if not self._met[index]:
                self._shares[index] = max(left, 0.0) * self._pods[self._busy[index]].weight / weight

    cdef inline void _set_pace(self, Pod* pod, double cores) noexcept:
        """So many cores for all requests of a pod, from now on."""
        cdef Lane* lane
        cdef double left
        cdef int number = <int> (pod - self._pods)
        if not pod.serving:
            self._leave_heap(number)
            return
        self._advance_pod(pod)
        pod.pace = cores / pod.serving
        lane = self._next_lane(pod)
        left = lane.line.items[lane.line.head].key - pod.level
        if left <= 0:
            self._enter_heap(number, self._now)
        elif pod.pace > 0:
            self._enter_heap(number, self._now + left / pod.pace)
        else:
            self._leave_heap(number)

    # -- the heap of next ends --------------------------------------------------------------------

    cdef inline bint _is_before(self, int one, int other) noexcept:
        cdef double mine = self._pods[one].next_end, theirs = self._pods[other].next_end
        return mine < theirs or (mine == theirs and one < other)

    cdef void _enter_heap(self, int number, double when) noexcept:
        cdef Pod* pod = &self._pods[number]
        pod.next_end = when
        if pod.place == NONE:
            pod.place = self._heap_count
            self._heap[self._heap_count] = number
            self._heap_count += 1
        self._sift(pod.place)

    cdef void _leave_heap(self, int number) noexcept:
        cdef int place = self._pods[number].place, moved
        if place == NONE:
            return
        self._pods[number].place = NONE
        self._heap_count -= 1
        if place == self._heap_count:
            return
        moved = self._heap[self._heap_count]
        self._heap[place] = moved
        self._pods[moved].place = place
        self._sift(place)

    cdef void _sift(self, int place) noexcept:
        """Moves an entry up or down to where it belongs."""
        cdef int number = self._heap[place], above, below
        while place:
            above = (place - 1) >> 1
            if not self._is_before(number, self._heap[above]):
                break
            self._heap[place] = self._heap[above]
            self._pods[self._heap[place]].place = place
            place = above
        while True:
            below = 2 * place + 1
            if below >= self._heap_count:
                break
            if below + 1 < self._heap_count and self._is_before(self._heap[below + 1], self._heap[below]):
                below += 1
            if not self._is_before(self._heap[below], number):
                break
            self._heap[place] = self._heap[below]
            self._pods[self._heap[place]].place = place
            place = below
        self._heap[place] = number
        self._pods[number].place = place

    # -- readings ---------------------------------------------------------------------------------

    cdef void _clear(self, Service* service) noexcept:
        service.arrived = service.ok = service.late = service.failed = 0
        service.total_s, service.least_s, service.most_s = 0.0, INFINITY, 0.0
        memset(service.buckets, 0, BUCKET_COUNT * sizeof(int64_t))
        service.low, service.high = BUCKET_COUNT, -1

    def tallies(self):
        """By service, since the last call."""
        cdef int index
        return [self._taken(&self._services[index]) for index in range(self._service_count)]

    cdef object _taken(self, Service* service):
        cdef int bucket
        service.waiting += service.arrived - service.ok - service.late - service.failed
        counts = []
        for bucket in range(service.low, service.high + 1):
            if service.buckets[bucket]:
                counts.append((bucket, service.buckets[bucket]))
        tally = Tally(
            service.arrived, service.ok, service.late, service.failed, service.waiting, tuple(counts),
            service.total_s, service.least_s, service.most_s,
        )
        self._clear(service)
        return tally

    def uses(self, pods):
        """Of these pods, since the last call."""
        cdef int number
        cdef Pod* pod
        found = []
        for number in pods:
            pod = &self._pods[number]
            found.append(Use(pod.core_s, pod.most_held))
            pod.core_s, pod.most_held = 0.0, pod.held
        return found
