"""The lexicon index's kernel. Without a C++ compiler it is skipped: retrolex then searches with numpy, to the same answers."""

from glob import glob

from setuptools import Extension, setup

setup(
    ext_modules=[
        Extension(
            "retrolex.index.lexicon._kernel",
            sources=sorted(glob("native/*.cpp")),
            depends=sorted(glob("native/*.h") + glob("native/*.inl")),
            language="c++",
            extra_compile_args=["-O3", "-std=c++17"],
            optional=True,
        )
    ]
)
