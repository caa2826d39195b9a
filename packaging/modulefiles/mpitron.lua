-- Environment module (Lmod) for an installation below `root`; copy it to a folder of MODULEPATH as mpitron/VERSION.lua.
help([[mpitron pretrains, evaluates and serves large transformers. `man mpitron` lists its commands.]])
whatis("Name: mpitron")
whatis("Description: trains large transformers with Megatron-LM's flags and formats")

local root = os.getenv("MPITRON_ROOT") or pathJoin("/opt", "mpitron", myModuleVersion())

depends_on("openmpi")
prepend_path("PATH", pathJoin(root, "bin"))
prepend_path("MANPATH", pathJoin(root, "share/man"))
prepend_path("XDG_DATA_DIRS", pathJoin(root, "share"))
setenv("MPITRON_HOME", pathJoin(root, "share/mpitron"))
