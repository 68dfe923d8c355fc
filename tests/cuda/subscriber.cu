// A program that has subscribed to CUPTI before the driver starts: kreplay finds the place taken, says by whom, and leaves it alone.
#include <cupti.h>
#include "check.cuh"

static unsigned calls = 0;

static void CUPTIAPI called(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void* data) {
    calls += static_cast<const CUpti_CallbackData*>(data)->callbackSite == CUPTI_API_ENTER;
}

__global__ void step(unsigned* data, size_t count) { step_all(data, count); }

int main() {
    CUpti_SubscriberHandle subscriber;
    EXPECT(cuptiSubscribe(&subscriber, called, nullptr) == CUPTI_SUCCESS, "nobody else is there");
    EXPECT(cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API) == CUPTI_SUCCESS, "all functions of the runtime");
    Recurrence array(50021);
    for (int k = 0; k < 3; k++) step<<<60, 256>>>(array.data, array.first.size());
    array.expect(3);
    EXPECT(calls > 3, "%u calls were seen", calls);
    return finish("subscriber");
}
