"""What the programs here print: values bit for bit, so that a profiled run can be compared with one that is not."""
import hashlib


def show(name, array):
    """Prints a NumPy array's shape, the hash of its bytes, and its first values as they are in memory."""
    data = array.tobytes()
    first = " ".join(data[at : at + array.itemsize].hex() for at in range(0, min(len(data), 4 * array.itemsize), array.itemsize))
    print(f"{name} {array.dtype} {tuple(array.shape)} {hashlib.sha256(data).hexdigest()[:24]} {first}", flush=True)
