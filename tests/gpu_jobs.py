#!/usr/bin/env python3
"""Send jobs to a daemon and print one table of what came back; tests/gpu.sh calls it.

    gpu_jobs.py URL SPECS [OUT] [--tune]

SPECS is a file with a copy spec a line, all of which must be verified. OUT receives every answer in full. --tune adds a
table of the 2 GiB copy and the transposes under other choices of unroll, cache and grid. The last line is "N passed, N failed".
"""
import collections
import concurrent.futures
import http.client
import json
import sys
import time

WAIT_S = 60
TEAM = 20  # good jobs among the faults
READY_S = 60  # CUDA starts in a second; the support kernels are compiled once
GIB2 = "(32768,32768):(32768,1)"  # 2 GiB of half_t
COLUMNS = "(32768,16384):(1,32768)"  # 2 GiB of float
SQUARE = "(4096,4096):(4096,1)"


def copy(type_, bits, thr, val, src, dst, **more):
    return dict(kind="copy", type=type_, atom=f"UniversalCopy<uint{bits}_t>", thr=thr, val=val, src=src, dst=dst, **more)


def transpose(bits, thr, val, smem, dst_bits, dst_thr, dst_val, n=16384, **more):
    return copy("float", bits, thr, val, f"({n},{n}):({n},1)", f"({n},{n}):(1,{n})", smem=smem,
                dst_atom=f"UniversalCopy<uint{dst_bits}_t>", dst_thr=dst_thr, dst_val=dst_val, **more)


BY_WORDS = (32, "(8,32):(32,1)", "(4,1):(1,0)"), (32, "(32,8):(1,32)", "(1,4):(0,1)")
BY_QUADS = (128, "(32,8):(8,1)", "(1,4):(0,1)"), (128, "(8,32):(1,8)", "(4,1):(1,0)")
LARGE = (128, "(64,16):(16,1)", "(1,4):(0,1)"), (128, "((8,2),(4,16)):((1,32),(8,64))", "(4,1):(1,0)")
COUNTED = {"counters": True, "budget": {"run_ms": 20000}}


def staged(partitions, smem, **more):
    return transpose(*partitions[0], smem, *partitions[1], **more)


TRANSPOSES = [
    ("transpose, padded, 32 bit", staged(BY_WORDS, "(32,32):(33,1)"), 0.85),
    ("transpose, swizzled, 128 bit", staged(BY_QUADS, "Swizzle<3,2,5> o 0 o (32,32):(32,1)"), 0.85),
    ("transpose, 64x64 swizzled, 128 bit", staged(LARGE, "Swizzle<3,2,6> o 0 o (64,64):(64,1)"), 0),
    ("transpose, neither, 32 bit", staged(BY_WORDS, "(32,32):(32,1)"), 0),
]
ASYNC = [("2 GiB half_t rows, cp.async, 128 bit",
          {**copy("half_t", 128, "(32,8):(8,1)", "(1,8):(0,1)", GIB2, GIB2), "atom": "SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>",
           "smem": "composition(Swizzle<3,3,3>{},(32,64):(64,1))"}, 0),
         ("transpose, padded, cp.async, 32 bit",
          {**staged(BY_WORDS, "(32,32):(33,1)"), "atom": "SM80_CP_ASYNC_CACHEALWAYS<uint32_t>"}, 0)]
# Columns of half_t in registers as ldmatrix has them, transposed; the rows of a matrix lie in 8 rows of the buffer that follow each
# other, so that the swizzle keeps them apart.
TURNED = dict(thr="((4,2),(8,8)):((1,32),(4,64))", val="(8,1):(1,0)")
TURNED_SMEM = "Swizzle<3,3,3> o 0 o ((2,4,4,2),64):((64,512,128,2048),1)"
HALVES = dict(kind="copy", type="half_t", thr="(64,8):(8,1)", val="(1,8):(0,1)")
BOXES = dict(thr="(32,1):(1,0)", val="(1,256):(0,1)", smem="(32,256):(256,1)")


def matrices(n, **more):
    """Transposes of half_t: rows in, columns out by ldmatrix; or columns in by stmatrix, rows out."""
    rows, columns = f"({n},{n}):({n},1)", f"({n},{n}):(1,{n})"
    there = dict(HALVES, src=rows, dst=columns, smem=TURNED_SMEM, smem_load="SM75_U16x8_LDSM_T", dst_thr=TURNED["thr"],
                 dst_val=TURNED["val"])
    back = dict(kind="copy", type="half_t", **TURNED, src=columns, dst=rows, smem=TURNED_SMEM, smem_store="SM90_U16x8_STSM_T",
                dst_thr=HALVES["thr"], dst_val=HALVES["val"])
    return [{**there, **more}, {**back, **more}]


def boxes(src, dst, **more):
    return dict(kind="copy", type="half_t", src=src, dst=dst, **BOXES, **more)


TMA = dict(atom="SM90_TMA_LOAD", dst_atom="SM90_TMA_STORE")
WARPS = [
    ("transpose half_t, ldmatrix.trans", matrices(32768)[0], 0),
    ("transpose half_t, stmatrix.trans", matrices(32768)[1], 0),
    ("transpose half_t, TMA and ldmatrix", {**matrices(32768)[0], "atom": "SM90_TMA_LOAD", "stages": 3,
                                            "smem": "Swizzle<3,3,3> o 0 o (64,64):(64,1)"}, 0),
    ("2 GiB half_t rows, TMA", boxes(GIB2, GIB2, **TMA), 0),
    ("2 GiB half_t rows, TMA in", {**boxes(GIB2, GIB2, atom="SM90_TMA_LOAD"), "thr": "(8,32):(32,1)", "val": "(4,8):(8,1)"}, 0),
    ("2 GiB half_t rows, TMA out", {**boxes(GIB2, GIB2, dst_atom="SM90_TMA_STORE"), "thr": "(8,32):(32,1)", "val": "(4,8):(8,1)"}, 0),
    ("odd shape, TMA", boxes("(16383,16376):(16384,1)", "(16383,16376):(16384,1)", **TMA), 0),
]
WARPS_COUNTED = [("4096^2, ldmatrix.trans", matrices(4096)[0]), ("4096^2, stmatrix.trans", matrices(4096)[1]),
                 ("4096^2, ldmatrix, no swizzle", {**matrices(4096)[0], "smem": "(64,64):(64,1)"}),
                 ("4096^2, TMA", boxes(SQUARE, SQUARE, **TMA)),
                 ("4096^2, TMA in", {**matrices(4096)[0], "atom": "SM90_TMA_LOAD", "smem": "Swizzle<3,3,3> o 0 o (64,64):(64,1)"}),
                 ("odd, TMA", boxes("(4001,4000):(4008,1)", "(4001,4000):(4016,1)", **TMA)),
                 ("edges, ldmatrix.trans", {**matrices(4096)[0], "src": "(4008,4016):(4016,1)", "dst": "(4008,4016):(1,4008)"}),
                 ("edges, stmatrix.trans", {**matrices(4096)[1], "src": "(4008,4016):(1,4008)", "dst": "(4008,4016):(4016,1)"})]
FIRST = copy("half_t", 128, "(32,8):(8,1)", "(1,8):(0,1)", SQUARE, SQUARE)
GOOD = [
    # name, spec, the least fraction of memcpy's speed
    ("4096^2 half_t, 128 bit", FIRST, 0),
    ("4096^2 transposing, 16 bit", copy("half_t", 16, "(32,8):(8,1)", "(1,8):(0,1)", SQUARE, "(4096,4096):(1,4096)"), 0),
    ("2 GiB half_t rows, 128 bit", copy("half_t", 128, "(32,8):(8,1)", "(1,8):(0,1)", GIB2, GIB2), 0.97),
    ("2 GiB half_t rows, 64 bit", copy("half_t", 64, "(16,16):(16,1)", "(1,4):(0,1)", GIB2, GIB2), 0),
    ("2 GiB half_t rows, 32 bit", copy("half_t", 32, "(8,32):(32,1)", "(1,2):(0,1)", GIB2, GIB2), 0),
    ("2 GiB half_t rows, 16 bit", copy("half_t", 16, "(8,32):(32,1)", "(1,1):(0,0)", GIB2, GIB2), 0),
    ("2 GiB float columns, 128 bit", copy("float", 128, "(32,8):(1,32)", "(4,1):(1,0)", COLUMNS, COLUMNS), 0.97),
    ("odd shape, 128 bit", copy("half_t", 128, "(32,8):(8,1)", "(1,8):(0,1)", "(16383,16381):(16384,1)",
                                "(16383,16381):(16384,1)"), 0),
    ("broadcast rows, 128 bit", copy("float", 128, "(8,32):(32,1)", "(1,4):(0,1)", "(16384,16384):(0,1)",
                                     "(16384,16384):(16384,1)"), 0),
]
ODD = dict(src="(4001,4003):(4003,1)", dst="(4001,4003):(1,4001)")
COUNTED_SPECS = [(name, spec) for name, spec, _ in GOOD[:1] + GOOD[2:4] + GOOD[6:7] + TRANSPOSES + ASYNC] + [
    ("odd transpose, padded, 32 bit", {**staged(BY_WORDS, "(32,32):(33,1)"), **ODD})] + WARPS_COUNTED
WRONG = [
    ("val across rows, 128 bit", copy("half_t", 128, "(32,8):(8,1)", "(8,1):(1,0)", SQUARE, SQUARE), "4096"),
    ("transposing, 128 bit", copy("half_t", 128, "(32,8):(8,1)", "(1,8):(0,1)", SQUARE, "(4096,4096):(1,4096)"), "4096"),
    ("odd row stride", copy("half_t", 128, "(32,8):(8,1)", "(1,8):(0,1)", "(64,64):(66,1)", "(64,64):(64,1)"), "66"),
    ("too few values", copy("half_t", 128, "(32,8):(8,1)", "(1,4):(0,1)", SQUARE, SQUARE), "4 values"),
]


def mma(atom, layout="(1,1,1)", permutation="(_,_,_)"):
    return dict(kind="mma", atom=atom, atom_layout=layout, permutation=permutation)


F16, GMMA = "SM80_16x8x16_F32F16F16F32_TN", "<GMMA::Major::K,GMMA::Major::MN>"
MMA = [mma(F16, "(2,2,1)"), mma("SM80_16x8x32_S32S8S8S32_TN", "(4,2,1)", "(128,32,64)"), mma("SM70_8x8x4_F32F16F16F32_NT", "(2,2,1)"),
       mma("SM80_16x8x256_S32U1U1S32_TN_XORPOPC"), mma("SM89_16x8x32_F32E4M3E5M2F32_TN"), mma("SM90_16x8x16_F64F64F64F64_TN"),
       mma("SM80_8x8x4_GC64C64C64GC64_TN"), mma("UniversalFMA<float>", "(16,16,1)"), mma(f"SM90_64x128x16_F32F16F16_SS{GMMA}", "(2,1,1)"),
       mma("SM90_64x64x32_F32E4M3E5M2_RS_TN", "(2,2,1)"), mma("SM90_64x96x32_S32S8U8_SS_TN")]
WRONG_MMA = [
    ("unknown atom", mma("SM80_16x8x16_F32F16F16F23_TN"), F16),
    ("an atom that the card lacks", mma("SM120_16x8x32_TN<float_e4m3_t,float_e5m2_t,float>"), "SM120_16x8x32"),
    ("tensor memory", mma("SM100_MMA_F16BF16_SS<half_t,half_t,float,128,128,UMMA::Major::K,UMMA::Major::K>"), "tensor memory"),
    ("too many threads", mma(F16, "(16,16,1)"), "1024"),
    ("a tile that atoms do not divide", mma(F16, "(4,1,1)", "(32,_,_)"), "multiple of the 64"),
    ("too many registers", mma(f"SM90_64x256x16_F32F16F16_SS{GMMA}", "(2,2,1)"), "128 registers"),
]
GEMM = dict(kind="mma", atom=F16, problem=dict(m=4096, n=4096, k=4096))
WRONG_GEMM = [
    ("a tile that is no multiple of the atoms", {**GEMM, "tile": "(100,128,32)", "atom_layout": "(2,2,1)"}, "multiple of 32"),
    ("shared memory over the limit", {**GEMM, "tile": "(128,128,64)", "stages": 8}, "262144 bytes"),
    ("strides that cp.async cannot take", {**GEMM, "problem": dict(m=64, n=64, k=129),
                                           "copy_a": "SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>"}, "stride 129"),
    ("shared layout of another shape", {**GEMM, "tile": "(128,128,64)", "smem_a": "(128,32):(32,1)"}, "32 elements"),
    ("shared layout that folds", {**GEMM, "tile": "(128,128,64)", "smem_b": "(128,64):(32,1)"}, "offset 32"),
    ("too many registers", {**GEMM, "tile": "(512,512,32)", "atom_layout": "(2,2,1)"}, "2048 registers"),
    ("D written twice", {**GEMM, "d": "(4096,4096):(0,1)"}, "(1,0)"),
    ("no products", {**GEMM, "problem": dict(m=0, n=1, k=1)}, "from 1"),
    ("a GEMM on an atom that the card lacks",
     {**GEMM, "atom": "SM120_16x8x32_TN<float_e4m3_t,float_e5m2_t,float>"}, "SM120_16x8x32"),
]
ROWS = dict(kind="copy", type="half_t", thr="(32,8):(8,1)", val="(1,8):(0,1)", src=SQUARE, dst=SQUARE,
            smem="composition(Swizzle<3,3,3>{},(32,64):(64,1))")
LDSM = dict(smem_load="SM75_U32x4_LDSM_N", dst_thr="(8,(4,8)):(4,(1,32))", dst_val="(4,2):(2,1)")
WRONG += [
    ("ldmatrix, rows not contiguous", {**ROWS, "smem_load": "SM75_U32x4_LDSM_N"}, "(0,8) at 8, not at 2"),
    ("ldmatrix, rows not aligned", {**ROWS, **LDSM, "smem": "(32,64):(68,1)"}, "byte 136"),
    ("ldmatrix of double", {**ROWS, **LDSM, "type": "double", "smem": "(32,64):(64,1)"}, "64 bits"),
    ("stmatrix behind cp.async", {**ROWS, "atom": "SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>", "smem_store": "SM90_U32x4_STSM_N"},
     "past them"),
    ("TMA, odd row stride", {**ROWS, "atom": "SM90_TMA_LOAD", "src": "(4096,4096):(4100,1)"}, "8200 bytes"),
    ("TMA out, rows that end in a piece", {**ROWS, "dst_atom": "SM90_TMA_STORE", "src": "(4096,4001):(4096,1)",
                                          "dst": "(4096,4001):(4096,1)"}, "14 bytes"),
    ("TMA, padded rows", {**ROWS, "atom": "SM90_TMA_LOAD", "smem": "(32,64):(72,1)"}, "144 bytes"),
    ("TMA, a swizzle that it lacks", {**ROWS, "dst_atom": "SM90_TMA_STORE", "smem": "composition(Swizzle<2,3,4>{},(32,64):(64,1))"},
     "Swizzle<2,3,4>"),
    ("TMA, shared memory over the limit", {**ROWS, "atom": "SM90_TMA_LOAD", "smem": "(32,64):(640,1)", "stages": 6}, "6 tiles"),
]
SMALL = copy("float", 128, "(8,8):(8,1)", "(1,4):(0,1)", "(512,512):(512,1)", "(512,512):(512,1)")
FAULTS = [("illegal_address", "kernel_fault"), ("trap", "kernel_fault"), ("segfault", "kernel_fault"),
          ("hang", "timeout_run")]


class Session:
    def __init__(self, url, out, user="127.0.0.1"):
        self.url, self.out, self.user, self.passed, self.failures = url, out, user, 0, []

    def request(self, method, path, body=None, wait=WAIT_S):
        data = json.dumps(body).encode() if body is not None else None
        connection = http.client.HTTPConnection(self.url.split("/")[-1], timeout=WAIT_S + 30,
                                                source_address=(self.user, 0))
        try:
            connection.request(method, path, data, {"Prefer": f"wait={wait}", "Content-Type": "application/json"})
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read() or b"{}")
        finally:
            connection.close()

    def run(self, spec):
        """The job at its end, or the refusal; and the seconds that it took."""
        start = time.monotonic()
        status, job = self.request("POST", "/jobs", {**spec, "executor": "gpu", "fresh": True})
        while status in (200, 202) and job.get("state") in ("queued", "compiling", "running"):
            status, job = self.request("GET", f"/jobs/{job['id']}")
        seconds = time.monotonic() - start
        if self.out:
            self.out.write(json.dumps({"spec": spec, "status": status, "answer": job}) + "\n")
        return status, job, seconds

    def row(self, good, text, show=True):
        """A row of the table; those that failed are shown once more at the end."""
        row = ("ok     " if good else "FAILED ") + text
        self.passed += bool(good)
        if not good:
            self.failures.append(row)
        if show or not good:
            print(row)

    def good(self, name, spec, least=0, show=True):
        _, job, seconds = self.run(spec)
        result = job.get("result") or {}
        ceiling = result.get("ceiling", {})
        good = result.get("verified") is True and result.get("fraction", 0) >= least
        self.row(good, f"{name:36s} {'verified' if result.get('verified') else 'NOT VERIFIED':12s}"
                 f" {result.get('gbps', 0):7.0f} {result.get('warm', {}).get('gbps', 0):7.0f}"
                 f" {ceiling.get('memcpy_gbps', 0):7.0f}"
                 f" {ceiling.get('vector_copy_gbps', 0):7.0f} {result.get('fraction', 0):6.3f}"
                 f" {result.get('median', 0):9.1f} {len(result.get('samples', [])):4d}"
                 f" {'yes' if result.get('stable') else 'no':6s} {result.get('registers', 0):4d}"
                 f" {result.get('occupancy', {}).get('fraction', 0):5.2f} {seconds * 1e3:7.0f}"
                 f"{'  implausible' if result.get('implausible') else ''}", show)
        if not good:
            print("      ", json.dumps(job.get("failure") or result.get("mismatch") or job.get("detail") or job)[:600])
        return result

    def counted(self, name, spec):
        """One line for each side of the copy: predicted, measured by the hardware, equal."""
        _, job, _ = self.run({**spec, **COUNTED})
        counters = (job.get("result") or {}).get("counters", {})
        measured = counters.get("measured")
        if not measured:
            self.row(False, f"{name:36s} {counters.get('why') or job.get('failure') or job.get('detail')}")
            return
        apart = counters["predicted"].get("not_compared", {})
        for side, numbers in counters["predicted"].items():
            if side not in measured:
                continue
            shown = "  ".join(f"{key} {value:.0f}/{measured[side][key]:.0f}" for key, value in numbers.items()
                              if key in measured[side])
            text = f"{name:36s} {side:10s} {shown}"
            if side in apart:
                print(f"-      {text}  (not compared: {apart[side]})")
            else:
                turns = counters.get("arbitration", {}).get(side)
                self.row(counters["equal"].get(side), text + (f"  (arbitration {turns:.0f})" if turns else ""))
        print(f"       {'':36s} {'besides':10s} " +
              "  ".join(f"{key} {value:.6g}" for key, value in measured.items() if not isinstance(value, dict)))

    def checked(self, spec):
        """An MMA partition: one tile, held against the product."""
        _, job, seconds = self.run(spec)
        result = job.get("result") or {}
        checked = result.get("checked", {})
        self.row(result.get("verified") is True,
                 f"{spec['atom'][:58]:58s} {spec['atom_layout']} {spec['permutation']:14s}"
                 f" {'verified' if result.get('verified') else 'NOT VERIFIED: ' + json.dumps(result.get('mismatch') or job)[:300]}"
                 f" {result.get('registers', 0):4d} regs {seconds * 1e3:6.0f} ms  {checked.get('of_bound', 0):.4f} of"
                 f" {checked.get('bound')}")

    def wrong(self, name, spec, says):
        status, job, _ = self.run(spec)
        detail = job.get("detail") or (job.get("failure") or {}).get("message", "")
        kind = job.get("code") or (job.get("failure") or {}).get("kind")
        self.row(kind == "user_error" and says in detail, f"{name:36s} {status} {kind}: {detail}")

    def fault(self, plant, kind):
        _, job, seconds = self.run({**SMALL, "plant": plant, "budget": {"run_ms": 2000}})
        failure = job.get("failure") or {}
        _, after, again = self.run(SMALL)
        well = (after.get("result") or {}).get("verified") is True
        self.row(failure.get("kind") == kind and well,
                 f"planted {plant:22s} {failure.get('kind')} after {seconds:.2f} s: {failure.get('message', '')[:90]};"
                 f" next job {'verified' if well else 'FAILED'} after {again:.2f} s")


    def cancel(self):
        """A kernel that never ends, deleted while it runs: how long until the next job has the card."""
        _, job = self.request("POST", "/jobs", {**SMALL, "executor": "gpu", "fresh": True, "plant": "hang"}, wait=0)
        while job.get("state") in ("queued", "compiling"):
            time.sleep(0.02)
            _, job = self.request("GET", f"/jobs/{job['id']}", wait=0)
        start = time.monotonic()
        self.request("DELETE", f"/jobs/{job['id']}", wait=0)
        while job.get("state") not in ("cancelled", "failed", "succeeded") and time.monotonic() - start < WAIT_S:
            time.sleep(0.01)
            _, job = self.request("GET", f"/jobs/{job['id']}", wait=0)
        ended = time.monotonic() - start
        _, after, _ = self.run(SMALL)
        free = time.monotonic() - start
        well = (after.get("result") or {}).get("verified") is True
        self.row(job.get("state") == "cancelled" and well and free < 2,
                 f"a running kernel is cancelled: {job.get('state')} after {ended:.2f} s; next job"
                 f" {'verified' if well else 'FAILED'} after {free:.2f} s")

    def ahead(self):
        """While one job runs, the kernel of the next is compiled: it is in the cache when its turn comes."""
        _, first = self.request("POST", "/jobs", {**SMALL, "executor": "gpu", "fresh": True, "plant": "hang",
                                                  "budget": {"run_ms": 1500}}, wait=0)
        fresh = {**SMALL, "src": f"({time.time_ns() % 5000 + 2000},512):(512,1)"}
        _, job, _ = self.run({**fresh, "dst": fresh["src"]})
        _, first = self.request("GET", f"/jobs/{first['id']}")
        result = job.get("result") or {}
        self.row(result.get("verified") is True and result.get("cubin_cached") is True and first["state"] == "failed",
                 f"compiled while another job ran: verified {result.get('verified')}, its kernel in the cache:"
                 f" {result.get('cubin_cached')}, compile {result.get('timings_ms', {}).get('compile', -1):.2f} ms")

    def texts(self):
        """PTX and SASS of a job, made when asked for; and whether the card was ours alone."""
        _, job, _ = self.run(FIRST)
        result, links = job.get("result") or {}, job.get("links", {})
        answers = {}
        for name in ("source", "ptx", "sass"):
            connection = http.client.HTTPConnection(self.url.split("/")[-1], timeout=WAIT_S)
            connection.request("GET", links.get(name, "/none"))
            answer = connection.getresponse()
            answers[name] = answer.status, answer.read().decode()
            connection.close()
        status, sass = answers["sass"]
        self.row("__global__" in answers["source"][1] and ".target sm_" in answers["ptx"][1] and
                 ("EXIT" in sass if status == 200 else "disassembler" in sass),
                 f"source {len(answers['source'][1])} bytes, PTX {len(answers['ptx'][1])}, SASS {status} {len(sass)};"
                 f" exclusive {result.get('exclusive')}, others {result.get('other_processes')}"
                 f" {result.get('exclusive_why', '')}")

    def team(self):
        """Three faults among the good jobs of others, all at once: a user is an address."""
        plants = ["illegal_address", "trap", "hang"]
        with concurrent.futures.ThreadPoolExecutor(TEAM + len(plants)) as pool:
            faults = [pool.submit(Session(self.url, None, "127.0.0.9").run,
                                  {**SMALL, "plant": plant, "budget": {"run_ms": 2000}}) for plant in plants]
            good = []
            for i in range(TEAM):
                spec = {**SMALL, "src": f"({600 + i},512):(512,1)", "dst": f"({600 + i},512):(512,1)"}
                good.append(pool.submit(Session(self.url, None, f"127.0.1.{i % 4 + 1}").run, spec))
                time.sleep(0.05)
        jobs = [one.result() for one in good]
        verified = sum((job.get("result") or {}).get("verified") is True for _, job, _ in jobs)
        kinds = [(one.result()[1].get("failure") or {}).get("kind") for one in faults]
        workers = collections.Counter(job.get("worker") for _, job, _ in jobs)
        self.row(verified == TEAM and kinds == ["kernel_fault", "kernel_fault", "timeout_run"],
                 f"{verified} of {TEAM} jobs of others verified among {kinds}; the slowest after"
                 f" {max(seconds for _, _, seconds in jobs):.2f} s; by worker {dict(workers)}")


HEADER = (f"       {'':36s} {'':12s} {'GB/s':>7s} {'warm L2':>7s} {'memcpy':>7s} {'vector':>7s} {'of it':>6s} {'median us':>9s} {'n':>4s}"
          f" stable {'regs':>4s} {'occ':>5s} {'POST ms':>7s}")


def tune_warps(session):
    """What issue "Partitions on the card" asks of TMA and of narrow rows, under other choices."""
    for stages in (2, 3, 4, 6):
        for grid in (132, 132 * 2, 132 * 4, 0):
            session.good(f"TMA both ways, {stages} stages, grid {grid or 'auto'}",
                         {**boxes(GIB2, GIB2, **TMA), "stages": stages, **({"grid": grid} if grid else {})})
    for tile, smem in (("(1,128):(0,1)", "(32,128):(128,1)"), ("(2,256):(256,1)", "(64,256):(256,1)")):
        session.good(f"TMA both ways, smem {smem}", {**boxes(GIB2, GIB2, **TMA), "val": tile, "smem": smem})
    narrow = copy("half_t", 16, "(8,32):(32,1)", "(1,1):(0,0)", GIB2, GIB2)
    for thr in ("(8,32):(32,1)", "(4,128):(128,1)", "(1,256):(0,1)", "(1,1024):(0,1)"):
        for unroll in (8, 16, 32, 64):
            session.good(f"16 bit rows, {thr} u{unroll}", {**narrow, "thr": thr, "unroll": unroll})
    for grid in (132 * 8, 132 * 32, 132 * 128):
        session.good(f"16 bit rows, u16, grid {grid}", {**narrow, "unroll": 16, "grid": grid})


def tune(session):
    tune_warps(session)
    for name, spec, _ in TRANSPOSES[:3]:
        for unroll in (1, 2, 4, 8):
            for cache in ("streaming", "default", "no_allocate"):
                session.good(f"{name[11:]} u{unroll} {cache}", {**spec, "unroll": unroll, "cache": cache})
    base = copy("half_t", 128, "(32,8):(8,1)", "(1,8):(0,1)", GIB2, GIB2)
    print("\n2 GiB half_t rows, 128 bit, under other choices\n" + HEADER)
    for thr, val in (("(32,8):(8,1)", "(1,8):(0,1)"), ("(1,256):(0,1)", "(1,8):(0,1)"), ("(4,32):(32,1)", "(1,8):(0,1)")):
        for unroll in (1, 2, 4, 8):
            for cache in ("streaming", "default", "no_allocate"):
                session.good(f"{thr} u{unroll} {cache}", {**base, "thr": thr, "val": val, "unroll": unroll, "cache": cache})
    for unroll in (2, 4, 8):
        for grid in (132, 132 * 2, 132 * 4, 132 * 8):
            session.good(f"persistent, u{unroll}, grid {grid}", {**base, "unroll": unroll, "grid": grid})


def latency(session):
    """From POST to a verified, timed result: a partition never seen before, and again."""
    for name, sizes in (("new", range(1000, 1020)), ("again", range(1000, 1020))):
        times, timed = [], []
        for n in sizes:
            spec = {**SMALL, "src": f"({n},512):(512,1)", "dst": f"({n},512):(512,1)"}
            _, job, seconds = session.run(spec)
            timings = (job.get("result") or {}).get("timings_ms", {})
            times.append(seconds * 1e3)
            timed.append(timings.get("time", 0))
        times.sort(), timed.sort()
        print(f"POST to result, {name:5s}: p50 of {len(times)} {times[len(times) // 2]:.0f} ms, of which timing"
              f" {timed[len(timed) // 2]:.0f} ms; the last one's parts: {json.dumps(timings)}")


def gpu_ready(session):
    """Wait for a worker with a GPU, and show it."""
    for _ in range(READY_S * 10):
        _, answer = session.request("GET", "/devices")
        for device in answer["devices"]:
            if device.get("executor") == "gpu" and device.get("state") in ("ready", "busy"):
                print(json.dumps(device.get("device")))
                return True
        time.sleep(0.1)
    print("no worker with a GPU came up:", json.dumps(answer))
    return False


def main():
    args = [a for a in sys.argv[1:] if not a.startswith("--")]
    session = Session(args[0].rstrip("/"), open(args[2], "w") if len(args) > 2 else None)
    if not gpu_ready(session):
        print("0 passed, 1 failed")
        return 1
    print(HEADER)
    for name, spec, least in GOOD + TRANSPOSES + ASYNC + WARPS:
        session.good(name, spec, least)
    print("\npredicted/measured")
    for name, spec in COUNTED_SPECS:
        session.counted(name, spec)
    print()
    for name, spec, says in WRONG + WRONG_MMA + WRONG_GEMM:
        session.wrong(name, spec, says)
    print()
    for spec in MMA:
        session.checked(spec)
    for plant, kind in FAULTS:
        session.fault(plant, kind)
    session.cancel()
    session.ahead()
    session.texts()
    session.team()
    specs = [json.loads(line) for line in open(args[1]) if line.strip()]
    before = session.passed
    for i, spec in enumerate(specs):
        session.good(f"spec {i}", {**spec, "budget": {"run_ms": 1000}}, show=False)
    print(f"{session.passed - before} of {len(specs)} further partitions verified")
    latency(session)
    if "--tune" in sys.argv:
        tune(session)
    if session.failures:
        print("\nthe rows that failed, once more")
        print("\n".join(session.failures))
    print(f"{session.passed} passed, {len(session.failures)} failed")
    return bool(session.failures)


if __name__ == "__main__":
    sys.exit(main())
