//! Collectives that are counted as they run: nothing may wait for one before its peers are launched.

use super::one_pass::OnePass;
use super::*;
use crate::interceptor::AgentCounters;
use kreplay_engine::Decline;

#[test]
fn none_is_waited_for_where_the_process_has_several_contexts() {
    for (waits, contexts, expected) in [(true, 1, None), (true, 2, Some(Decline::Collective)), (false, 2, None)] {
        let request = Request { names: vec!["anything".into()], ..Request::default() };
        let program = Program::counted(
            1,
            false,
            request,
            Box::new(move |_| Some(Arc::new(OnePass { waits, ..OnePass::default() }) as Arc<dyn AgentCounters>)),
        );
        if contexts > 1 {
            program.interceptor.context(Context(0xc0_0000 as *mut c_void));
        }
        let data = program.allocate(4096);
        let name = format!("ncclDevKernel_AllReduce_{waits}_{contexts}");
        program.launch(increment(&name), &name, data, Stream::NULL, 0);
        assert_eq!(program.declined(), expected, "waits: {waits}, contexts: {contexts}");
    }
}
