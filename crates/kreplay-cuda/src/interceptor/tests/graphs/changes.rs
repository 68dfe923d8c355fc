//! Graphs that change after they were instantiated.

use super::*;

#[test]
fn changes_after_the_instantiation_are_followed() {
    let program = Program::with(2, true);
    let data = program.allocate(4096);
    (0..1024).for_each(|at| set_word(data + at * 4, 0));
    let function = increment("graph_changed");
    let graph = add_graph();
    let set = add_node(graph, Node::Set { to: data + 64, value: 1, count: 4 }, &[]);
    let one = add_node(graph, kernel(function, data), &[set]);
    let exec = program.instantiate(graph);
    let node = GraphNode(one as *mut c_void);
    // What the replay ran shows as the difference to what the program's own launch alone would have left: nothing. So
    // the replays are counted by where they write, in memory that the program's own launch does not touch.
    let targets = |expected: u64| {
        let launches = fake::launches("graph_changed");
        program.launch_graph(exec, || program.run(function, expected));
        program.close_window();
        let records = program.take();
        assert_eq!(records.len(), 1);
        assert_eq!(
            (&records[0].outcome, &records[0].divergence),
            (&Outcome::Replayed, &None),
            "wrote at {expected:#x}"
        );
        assert_eq!(fake::launches("graph_changed"), launches + 2);
    };
    let enable = |enabled| {
        let parameters = EnableNodeParams { exec, node: GraphNode(set as *mut c_void), enabled, padding: 0 };
        program.change(cbid::GRAPH_NODE_ENABLE, &parameters);
    };
    // The memset would make every replay differ from the program's run here, which leaves it out.
    enable(0);
    targets(data);
    let second = kernel_params(function.raw(), &[data + 4]);
    let parameters = ExecNodeParams { exec, node, params: (&raw const second).cast() };
    program.change(cbid::GRAPH_EXEC_KERNEL_V2, &parameters);
    targets(data + 4);
    let third = kernel_params(function.raw(), &[data + 8]);
    let third = KernelNodeParamsV1 {
        function,
        grid: third.grid,
        block: third.block,
        shared: 0,
        arguments: third.arguments,
        extra: std::ptr::null_mut(),
    };
    program.change(cbid::GRAPH_EXEC_KERNEL, &ExecNodeParams { exec, node, params: (&raw const third).cast() });
    targets(data + 8);
    let fourth = AnyNodeParams {
        kind: node_kind::KERNEL,
        reserved: [0; 3],
        kernel: kernel_params(function.raw(), &[data + 12]),
    };
    program.change(cbid::GRAPH_EXEC_ANY, &ExecNodeParams { exec, node, params: (&raw const fourth).cast() });
    targets(data + 12);
    // A change that failed is none.
    program.call(cbid::GRAPH_EXEC_KERNEL_V2, "", &parameters, || 1);
    targets(data + 12);
    // The memset is on again, and sets the word that the program's run sets to the same.
    let other = SetNodeParams { to: data + 32, pitch: 0, value: 9, element: 4, width: 1, height: 1 };
    let parameters = ExecNodeParams { exec, node: GraphNode(set as *mut c_void), params: (&raw const other).cast() };
    program.change(cbid::GRAPH_EXEC_SET, &parameters);
    enable(1);
    program.launch_graph(exec, || {
        set_word(data + 32, 9);
        program.run(function, data + 12);
    });
    program.close_window();
    assert_eq!((program.take()[0].divergence.clone(), word(data + 32)), (None, 9));
    // Another graph's parameters.
    let twin = add_graph();
    add_node(twin, kernel(function, data + 40), &[]);
    program.change(cbid::GRAPH_EXEC_UPDATE_V2, &ExecGraphParams { exec, graph: Graph(twin as *mut c_void) });
    targets(data + 40);
    assert_eq!(word(data + 64), 0, "the memset of the beginning was never replayed");
    // A node that is no child graph, as far as is known.
    program.change(cbid::GRAPH_EXEC_CHILD, &ExecNodeParams { exec, node, params: std::ptr::null() });
    program.launch_graph(exec, || program.run(function, data + 40));
    assert_eq!(program.declined(), Some(Decline::GraphLaunch));
    program.change(cbid::GRAPH_EXEC_DESTROY, &ExecGraphParams { exec, graph: Graph::NULL });
    program.launch_graph(exec, || {});
    assert_eq!((program.declined(), &*program.last().kernel.name), (Some(Decline::GraphLaunch), "CUDA graph"));
}

/// What the driver does with one was not seen.
#[test]
fn a_node_without_rows_declines() {
    let program = Program::with(3, true);
    let data = program.allocate(4096);
    let function = increment("graph_without_rows");
    let graph = add_graph();
    let set = add_node(graph, Node::Set { to: data + 64, value: 7, count: 4 }, &[]);
    add_node(graph, kernel(function, data), &[set]);
    let exec = program.instantiate(graph);
    let none = SetNodeParams { to: data + 64, pitch: 0, value: 9, element: 4, width: 1, height: 0 };
    let parameters = ExecNodeParams { exec, node: GraphNode(set as *mut c_void), params: (&raw const none).cast() };
    program.change(cbid::GRAPH_EXEC_SET, &parameters);
    program.launch_graph(exec, || program.run(function, data));
    match program.last().outcome {
        Outcome::Declined { reason: Decline::GraphLaunch, detail } => {
            assert!(detail.contains("without rows"), "{detail}")
        }
        other => panic!("{other:?}"),
    }
}

/// An update says nothing of what is left out, so that stays left out.
#[test]
fn what_is_left_out_stays_left_out_through_an_update() {
    let program = Program::with(2, true);
    let data = program.allocate(4096);
    (0..1024).for_each(|at| set_word(data + at * 4, 0));
    let function = increment("graph_left_out");
    let made = |value| {
        let graph = add_graph();
        let set = add_node(graph, Node::Set { to: data + 64, value, count: 4 }, &[]);
        (graph, set, add_node(graph, kernel(function, data), &[set]))
    };
    let (graph, set, _) = made(1);
    let (twin, _, _) = made(2);
    let exec = program.instantiate(graph);
    let enable = |enabled| {
        let parameters = EnableNodeParams { exec, node: GraphNode(set as *mut c_void), enabled, padding: 0 };
        program.change(cbid::GRAPH_NODE_ENABLE, &parameters);
    };
    let update =
        || program.change(cbid::GRAPH_EXEC_UPDATE_V2, &ExecGraphParams { exec, graph: Graph(twin as *mut c_void) });
    let outcome = |sets: bool| {
        program.launch_graph(exec, || {
            if sets {
                set_word(data + 64, 0x0202_0202);
            }
            program.run(function, data);
        });
        program.close_window();
        let record = program.take().remove(0);
        assert_eq!(record.divergence, None);
        match record.outcome {
            Outcome::Declined { reason, detail } => {
                assert!(detail.contains("perhaps disabled"), "{detail}");
                Some(reason)
            }
            _ => None,
        }
    };
    update();
    assert_eq!(outcome(true), None);
    set_word(data + 64, 0);
    enable(0);
    update();
    assert_eq!((outcome(false), word(data + 64)), (Some(Decline::GraphLaunch), 0));
    // Every update leaves it out again, until it is taken in.
    update();
    assert_eq!(outcome(false), Some(Decline::GraphLaunch));
    enable(1);
    update();
    assert_eq!((outcome(true), word(data)), (None, 4));
}

#[test]
fn a_child_graph_with_a_node_that_is_left_out_is_not_exchanged() {
    let program = Program::with(2, true);
    let data = program.allocate(4096);
    set_word(data, 0);
    let function = increment("graph_child_left_out");
    let child = || {
        let child = add_graph();
        let set = add_node(child, Node::Set { to: data + 64, value: 1, count: 4 }, &[]);
        add_node(child, kernel(function, data), &[set]);
        (child, set)
    };
    let ((one, set), (two, _)) = (child(), child());
    let graph = add_graph();
    let node = GraphNode(add_node(graph, Node::Graph(one), &[]) as *mut c_void);
    let exec = program.instantiate(graph);
    let parameters = EnableNodeParams { exec, node: GraphNode(set as *mut c_void), enabled: 0, padding: 0 };
    program.change(cbid::GRAPH_NODE_ENABLE, &parameters);
    program.change(cbid::GRAPH_EXEC_CHILD, &ExecNodeParams { exec, node, params: two as *const c_void });
    program.launch_graph(exec, || program.run(function, data));
    assert_eq!(program.declined(), Some(Decline::GraphLaunch));
}

#[test]
fn a_child_graph_is_exchanged_where_it_was() {
    let program = Program::with(3, true);
    let data = program.allocate(4096);
    (0..16).for_each(|at| set_word(data + at * 4, 0));
    let (outer, first, second) = (increment("graph_outer"), increment("graph_child_one"), increment("graph_child_two"));
    let copy = |to: u64, from: u64| Node::Copy { to, from, bytes: 4, from_host: false, to_host: false };
    let (one, two, middle) = (add_graph(), add_graph(), add_graph());
    add_node(one, kernel(first, data), &[]);
    let taken = add_node(two, copy(data + 4, data), &[]);
    add_node(two, kernel(second, data + 4), &[taken]);
    let inner = add_node(middle, Node::Graph(one), &[]);
    let graph = add_graph();
    let before = add_node(graph, kernel(outer, data), &[]);
    let child = add_node(graph, Node::Graph(middle), &[before]);
    add_node(graph, copy(data + 8, data + 4), &[child]);
    let exec = program.instantiate(graph);
    let change = |node: u64, graph: u64| {
        let node = GraphNode(node as *mut c_void);
        program.change(cbid::GRAPH_EXEC_CHILD, &ExecNodeParams { exec, node, params: graph as *const c_void });
    };
    let twice = || {
        set_word(data + 4, word(data));
        program.run(second, data + 4);
    };
    let expect = |names: &[&str], words: [u32; 3]| {
        program.close_window();
        let records = program.take();
        let found: Vec<&str> = records.iter().map(|record| &*record.kernel.name).collect();
        assert_eq!(found, names);
        assert!(records.iter().all(|record| record.outcome == Outcome::Replayed && record.divergence.is_none()));
        assert_eq!([word(data), word(data + 4), word(data + 8)], words);
    };
    program.launch_graph(exec, || {
        program.run(outer, data);
        program.run(first, data);
        set_word(data + 8, word(data + 4));
    });
    expect(&["graph_outer", "graph_child_one"], [2, 0, 0]);
    // The inner of two, then the outer one.
    change(inner, two);
    program.launch_graph(exec, || {
        program.run(outer, data);
        twice();
        set_word(data + 8, word(data + 4));
    });
    expect(&["graph_outer", "graph_child_two"], [3, 4, 4]);
    change(child, one);
    program.launch_graph(exec, || {
        program.run(outer, data);
        program.run(first, data);
        set_word(data + 8, word(data + 4));
    });
    expect(&["graph_outer", "graph_child_one"], [5, 4, 4]);
}

/// Its address is known before its launch, and it is memory from then on, whoever frees it.
#[test]
fn what_a_graph_allocates_and_leaves_is_nothing_that_is_put_back() {
    for batches in [true, false] {
        let program = Program::with(3, batches);
        let function = increment("on_a_graphs_memory");
        let memory = || {
            let _depth = crate::agent::Depth::enter();
            program.interceptor.driver.allocate(4096).expect("memory")
        };
        let (left, freed) = (memory(), memory());
        let graph = add_graph();
        let first = add_node(graph, Node::Allocation { base: left, bytes: 4096 }, &[]);
        let second = add_node(graph, Node::Allocation { base: freed, bytes: 4096 }, &[first]);
        add_node(graph, Node::Free(freed), &[second]);
        let exec = program.instantiate(graph);
        for _ in 0..2 {
            program.launch_graph(exec, || {});
            let before = word(left + 8);
            program.launch(function, "on_a_graphs_memory", left + 8, Stream::NULL, 0);
            assert_eq!((program.declined(), word(left + 8)), (Some(Decline::UntrackedMemory), before.wrapping_add(1)));
            assert!(!locked(&program.interceptor.live).is_in(freed));
            program.call(cbid::MEM_FREE_ASYNC, "", &FreeParams { pointer: left }, || 0);
            assert!(!locked(&program.interceptor.live).is_in(left));
        }
    }
}
