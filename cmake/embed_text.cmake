# cmake -DINPUT=file -DOUTPUT=file.cpp -DHEADER=name.h -DVARIABLE=gantree::kName -P embed_text.cmake
#
# Makes a source file that holds a text as a constant of the program.
file(READ ${INPUT} text)
# In pieces: compilers need not take literals of any length.
string(LENGTH "${text}" length)
set(pieces "")
set(at 0)
while(at LESS length)
  string(SUBSTRING "${text}" ${at} 4000 piece)
  string(APPEND pieces "R\"~~~(${piece})~~~\"\n")
  math(EXPR at "${at} + 4000")
endwhile()
file(WRITE ${OUTPUT} "#include \"${HEADER}\"\n\nconst std::string_view ${VARIABLE} =\n${pieces};\n")
